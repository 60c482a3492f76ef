import { afterEach, beforeEach, expect, it } from 'vitest';
import { AlarmBook, type Causes } from '../../src/console/alarms.ts';
import { temporaryFolder } from '../helpers/origin.ts';

let folder: string;
let remove: () => void;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(() => remove());

const red = (key: string): Causes => ({ 'shift-red': [{ key, told: `shift ${key}`, link: `/shifts/${key}` }] });
const stateOf = async (book: AlarmBook, causes: Causes) =>
  (await book.look(causes)).find(({ name }) => name === 'shift-red')?.state;

it('goes from dark to new, to acknowledged, and to dark when its cause is gone', async () => {
  const book = new AlarmBook(folder);
  expect(await stateOf(book, {})).toBe('dark');
  expect(await stateOf(book, red('a'))).toBe('new');
  expect(await book.acknowledge('shift-red', 'Ada')).toBe(true);
  expect(await stateOf(book, red('a'))).toBe('acknowledged');
  expect(await stateOf(book, {})).toBe('dark');
});

it('stays lit when its cause goes by itself, until it is acknowledged', async () => {
  const book = new AlarmBook(folder);
  await stateOf(book, red('a'));
  expect(await stateOf(book, {})).toBe('gone');
  expect(await book.acknowledge('shift-red', 'Ada')).toBe(true);
  expect(await stateOf(book, {})).toBe('dark');
});

it('is new again for another cause, but not for the same one that comes back before it was acknowledged', async () => {
  const book = new AlarmBook(folder);
  await stateOf(book, red('a'));
  await book.acknowledge('shift-red', 'Ada');
  expect(await stateOf(book, red('b'))).toBe('new');
  await stateOf(book, {});
  expect(await stateOf(book, red('b'))).toBe('new');
});

it('can be acknowledged once, and only when it is lit', async () => {
  const book = new AlarmBook(folder);
  expect(await book.acknowledge('shift-red', 'Ada')).toBe(false);
  await stateOf(book, red('a'));
  expect(await book.acknowledge('shift-red', 'Ada')).toBe(true);
  expect(await book.acknowledge('shift-red', 'Bob')).toBe(false);
});

it('remembers over a restart what is lit and who acknowledged it', async () => {
  const book = new AlarmBook(folder);
  await stateOf(book, red('a'));
  await book.acknowledge('shift-red', 'Ada', new Date('2026-05-04T12:00:00Z'));
  const again = new AlarmBook(folder);
  const alarm = (await again.look(red('a'))).find(({ name }) => name === 'shift-red');
  expect(alarm).toMatchObject({ state: 'acknowledged', acknowledged: { by: 'Ada', at: '2026-05-04T12:00:00.000Z' } });
});
