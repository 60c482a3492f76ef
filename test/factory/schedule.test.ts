import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { calendar } from '../../src/factory/calendar.ts';
import { Schedule } from '../../src/factory/schedule.ts';

const MINUTE = 60_000;

describe('the schedule, by a clock under control', () => {
  let ticks: string[];
  let schedule: Schedule;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    ticks = [];
  });
  afterEach(() => {
    schedule.stop();
    vi.useRealTimers();
  });

  const begin = (at: string, zone = 'UTC', expression = '*/30 * * * *') => {
    vi.setSystemTime(new Date(at));
    schedule = new Schedule(calendar(expression, zone), (due) => ticks.push(due.toISOString().slice(11, 16)));
    schedule.start();
  };
  const pass = (minutes: number) => vi.advanceTimersByTime(minutes * MINUTE);
  /** The clock is set, or the machine slept: time jumps and no timer ran. */
  const jump = (minutes: number) => vi.setSystemTime(new Date(Date.now() + minutes * MINUTE));

  it('ticks at each time and knows the next', () => {
    begin('2026-01-05T09:10:00Z');
    expect(schedule.next?.toISOString()).toBe('2026-01-05T09:30:00.000Z');
    pass(60);
    expect(ticks).toEqual(['09:30', '10:00']);
  });

  it.each([
    ['Europe/London', '2026-10-25T00:10:00Z'],
    ['America/New_York', '2026-03-08T06:10:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T14:10:00Z'],
  ])('ticks every half hour, once, while clocks change in %s', (zone, at) => {
    begin(at, zone);
    pass(240);
    expect(ticks).toHaveLength(8);
    expect(new Set(ticks).size).toBe(8);
  });

  it('makes up for a long sleep with one tick, then keeps time', () => {
    begin('2026-01-05T09:10:00Z');
    jump(200); // 12:30
    pass(1);
    expect(ticks).toEqual(['09:30']);
    pass(60);
    expect(ticks).toEqual(['09:30', '13:00', '13:30']);
  });

  it('does not tick twice when the clock is set back by seconds', () => {
    begin('2026-01-05T09:29:00Z');
    pass(1);
    jump(-1 / 6);
    pass(29);
    expect(ticks).toEqual(['09:30']);
    pass(2);
    expect(ticks).toEqual(['09:30', '10:00']);
  });

  it('does not stall when the clock is set back by hours', () => {
    begin('2026-01-05T09:10:00Z');
    pass(60); // 10:10, ticked 09:30 and 10:00
    jump(-120); // 08:10
    pass(60);
    expect(ticks).toEqual(['09:30', '10:00', '08:30', '09:00']);
  });

  it('is quiet once stopped, and goes on when started again', () => {
    begin('2026-01-05T09:10:00Z');
    schedule.stop();
    expect(schedule.next).toBeNull();
    pass(60);
    expect(ticks).toEqual([]);
    schedule.start();
    schedule.start();
    pass(30);
    expect(ticks).toEqual(['10:30']);
  });
});
