import { describe, expect, it } from 'vitest';
import { ModelFailure, retryAfter, waitBefore } from '../../../src/harness/builtin/failure.ts';
import { repeats } from '../../../src/harness/builtin/guards.ts';
import { Limits } from '../../../src/harness/builtin/limits.ts';
import { continueWith, instructionsOf } from '../../../src/harness/builtin/texts.ts';
import { BoundedOutput, headAndTail } from '../../../src/harness/builtin/tools/bounded.ts';

describe('the wait before another attempt', () => {
  it('doubles from 1 s to 30 s', () => {
    expect([1, 2, 3, 4, 5, 6, 20, 500].map((n) => waitBefore(n, 1000) / 1000)).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  it('is as long as the provider asks, but at least the backoff and at most 5 minutes', () => {
    expect(waitBefore(1, 1000, 90_000)).toBe(90_000);
    expect(waitBefore(4, 1000, 0)).toBe(8000);
    expect(waitBefore(1, 1000, 86_400_000)).toBe(300_000);
  });

  it('is read from Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-05-04T12:00:00Z');
    expect(retryAfter('120', now)).toBe(120_000);
    expect(retryAfter('Mon, 04 May 2026 12:01:30 GMT', now)).toBe(90_000);
    expect(retryAfter('Mon, 04 May 2026 11:00:00 GMT', now)).toBe(0);
    for (const header of [undefined, null, '', 'soon', '-5x']) expect(retryAfter(header, now)).toBeUndefined();
  });
});

describe('a failure', () => {
  const failure = (status?: number, message = 'no', body = '') => new ModelFailure({ message, status, body });

  it('passes by its status, or because there is none', () => {
    expect([undefined, 408, 429, 500, 502, 529].every((status) => failure(status).passing)).toBe(true);
    expect([400, 401, 402, 403, 404, 422].some((status) => failure(status).passing)).toBe(false);
  });

  it('is about length when the provider says so, which a rate limit on tokens is not', () => {
    expect(failure(400, 'prompt is too long: 210000 tokens').tooLong).toBe(true);
    expect(failure(400, 'Bad Request', '{"code":"context_length_exceeded"}').tooLong).toBe(true);
    expect(failure(429, 'too many tokens per minute').tooLong).toBe(false);
    expect(failure(400, 'no such model').tooLong).toBe(false);
  });

  it('keeps a bounded part of the answer', () => {
    expect(failure(500, 'x', 'y'.repeat(100_000)).body).toHaveLength(4096);
  });
});

describe('a repetition', () => {
  it('is a pattern of one to four rounds, three times in a row at the end', () => {
    expect(repeats(['a', 'a', 'a'])).toBe(true);
    expect(repeats([...'xababab'])).toBe(true);
    expect(repeats([...'abcdabcdabcd'])).toBe(true);
    expect(repeats(['a', 'a'])).toBe(false);
    expect(repeats([...'aab'])).toBe(false);
    expect(repeats([...'abab'])).toBe(false);
    expect(repeats([...'aaab'])).toBe(false);
    expect(repeats([...'abcdeabcdeabcde'])).toBe(false);
  });
});

describe('limits', () => {
  it('tell the last mark only when several are passed at once, and each limit for itself', () => {
    let now = 0;
    const limits = new Limits({ timeMs: 600_000, iterations: 10, calls: 100 }, () => now);
    expect(limits.notices()).toEqual([]);
    now = 500_000;
    limits.iterations = 5;
    const told = limits.notices();
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/80 % of the time .*8\.3 min of 10 min/);
    expect(told[1]).toMatch(/50 % of the turns/);
    expect(limits.notices()).toEqual([]);
    now = 600_000;
    expect(() => limits.check()).toThrow('10 min');
  });
});

describe('bounded text', () => {
  it('is left alone when it fits and keeps both ends when it does not', () => {
    expect(headAndTail('abc', 3)).toBe('abc');
    expect(headAndTail('abcdefghij', 4)).toBe('ab\n\n[… 6 characters left out …]\n\nij');
  });

  it('is the same however the pieces were cut', () => {
    const text = Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join('');
    const whole = new BoundedOutput(100);
    whole.push(text);
    const pieces = new BoundedOutput(100);
    for (const piece of text.match(/[\s\S]{1,3}/g) ?? []) pieces.push(piece);
    expect(pieces.toString()).toBe(whole.toString());
    expect(whole.toString()).toContain(`${text.length - 100} characters left out`);
    const short = new BoundedOutput(100);
    for (const piece of ['a', 'b', 'c']) short.push(piece);
    expect(short.toString()).toBe('abc');
  });
});

describe('what the model is told', () => {
  it('holds the contract and the task, and does without a contract', () => {
    const told = { task: 'Make it.', checkout: '/c', temp: '/t' };
    expect(instructionsOf({ ...told, contract: '# Rules' })).toMatch(/# Rules[\s\S]*Your task\n\nMake it\.$/);
    expect(instructionsOf({ ...told, contract: null })).not.toContain('AGENTS.md');
  });

  it('continues with findings only when there are some', () => {
    expect(continueWith(' ')).not.toContain('gates');
    expect(continueWith('css-parse: line 3')).toContain('css-parse: line 3');
  });
});
