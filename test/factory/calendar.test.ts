import { describe, expect, it } from 'vitest';
import { calendar, nextTimes } from '../../src/factory/calendar.ts';

const from = (expression: string, zone: string, at: string, count: number) =>
  nextTimes(expression, zone, new Date(at), count).map((time) => time.toISOString().slice(5, 16));

describe('the calendar of a schedule', () => {
  it('goes by the half hour, strictly after the moment it is asked at', () => {
    expect(from('*/30 * * * *', 'UTC', '2026-01-05T09:30:00Z', 3)).toEqual([
      '01-05T10:00',
      '01-05T10:30',
      '01-05T11:00',
    ]);
  });

  it.each([
    ['America/New_York', '2026-11-01T05:10:00Z', ['11-01T05:30', '11-01T06:00', '11-01T06:30', '11-01T07:00']],
    ['America/New_York', '2026-03-08T06:10:00Z', ['03-08T06:30', '03-08T07:00', '03-08T07:30', '03-08T08:00']],
    ['Europe/London', '2026-10-25T00:10:00Z', ['10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00']],
    ['Europe/London', '2026-03-29T00:10:00Z', ['03-29T00:30', '03-29T01:00', '03-29T01:30', '03-29T02:00']],
    ['Australia/Lord_Howe', '2026-04-04T14:10:00Z', ['04-04T14:30', '04-04T15:00', '04-04T15:30', '04-04T16:00']],
    ['Asia/Kathmandu', '2026-04-04T14:10:00Z', ['04-04T14:15', '04-04T14:45', '04-04T15:15', '04-04T15:45']],
  ])('keeps every half hour in %s while clocks change', (zone, at, expected) => {
    expect(from('*/30 * * * *', zone, at, 4)).toEqual(expected);
  });

  it.each([
    [
      'the hour that comes twice, only in the first',
      '30 1 * * *',
      'America/New_York',
      '2026-11-01T04:00:00Z',
      ['11-01T05:30', '11-02T06:30'],
    ],
    [
      'the hour that is skipped, as soon as it is over',
      '30 2 * * *',
      'America/New_York',
      '2026-03-08T06:00:00Z',
      ['03-08T07:00', '03-09T06:30'],
    ],
    [
      'the hour after the one that is skipped, once',
      '0 3 * * *',
      'America/New_York',
      '2026-03-08T06:00:00Z',
      ['03-08T07:00', '03-09T07:00'],
    ],
    [
      'the half hour that Lord Howe repeats',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T13:00:00Z',
      ['04-04T14:45', '04-05T15:15'],
    ],
  ])('has a daily tick once a day: %s', (_, expression, zone, at, expected) => {
    expect(from(expression, zone, at, 2)).toEqual(expected);
  });

  it('finds 29 February', () => {
    expect(nextTimes('0 12 29 2 *', 'UTC', new Date('2026-03-01T00:00:00Z'), 1)).toEqual([
      new Date('2028-02-29T12:00:00Z'),
    ]);
  });

  it.each(['', '* * * *', '99 * * * *', '* * * * * *', 'soon', '0 12 31 2 *'])(
    'refuses %j as an expression',
    (expression) => {
      expect(() => calendar(expression, 'UTC')).toThrow(expect.objectContaining({ code: 'config/invalid' }));
    },
  );

  it('refuses a zone that is not known', () => {
    expect(() => calendar('* * * * *', 'Mars/Olympus')).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  });
});
