import { describe, expect, it } from 'vitest';
import { OnePlaceQueue } from '../../src/factory/queue.ts';

/** Work that ends when the test says so. */
function bench() {
  const ends: (() => void)[] = [];
  let began = 0;
  const queue = new OnePlaceQueue<number>(() => {
    began += 1;
    const n = began;
    return new Promise((resolve) => ends.push(() => resolve(n)));
  });
  return { queue, end: () => ends.shift()?.(), began: () => began };
}

describe('the queue of one place', () => {
  it('starts the first, lets the second wait, and has all others join it', async () => {
    const { queue, end, began } = bench();
    const first = queue.ask('a');
    const second = queue.ask('b');
    const third = queue.ask('c');
    expect([first.outcome, second.outcome, third.outcome]).toEqual(['started', 'queued', 'joined']);
    expect(queue).toMatchObject({ coalesced: 1, running: { by: 'a' }, waiting: { by: 'b' } });
    expect(began()).toBe(1);
    end();
    expect(await first.done).toBe(1);
    await Promise.resolve();
    expect(began()).toBe(2);
    end();
    expect(await Promise.all([second.done, third.done])).toEqual([2, 2]);
    expect(queue).toMatchObject({ running: null, waiting: null });
  });

  it('goes on after work that failed', async () => {
    let fail = true;
    const queue = new OnePlaceQueue<string>(async () => {
      if (fail) throw new Error('broken');
      return 'fine';
    });
    const first = queue.ask('a');
    fail = false;
    const second = queue.ask('b');
    await expect(first.done).rejects.toThrow('broken');
    expect(await second.done).toBe('fine');
  });

  it('refuses who waits and who asks once it is closed, and waits for the one that runs', async () => {
    const { queue, end } = bench();
    const first = queue.ask('a');
    const second = queue.ask('b');
    let closed = false;
    const closing = queue.close(new Error('stopping')).then(() => {
      closed = true;
    });
    await expect(second.done).rejects.toThrow('stopping');
    expect(() => queue.ask('c')).toThrow('stopping');
    expect(closed).toBe(false);
    end();
    expect(await first.done).toBe(1);
    await closing;
  });
});
