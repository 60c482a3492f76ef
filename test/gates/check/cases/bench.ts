import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MachineFile } from '../../../../src/catalogue/entry.ts';
import type { CheckRule } from '../../../../src/gates/check/rules.ts';
import { type TestMachine, writeShelf } from '../../../helpers/machine.ts';

/** One way to break a shelf of two good machines, or to make it look broken. */
export interface Case {
  name: string;
  /** The one rule that must be told; null for a trap, where nothing may be. */
  rule: CheckRule | null;
  /** Changes the second machine, of which the files are already written from its entry. */
  edit?: (machine: TestMachine, first: TestMachine) => void;
  /** Changes the folder after it is written. */
  after?: (site: string, slug: string) => Promise<void>;
}

/** Replaces text in a file, and fails when it is not there: a case that changes nothing would prove nothing. */
export function swap(machine: TestMachine, file: MachineFile, from: string, to: string): void {
  const text = machine.files[file];
  if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
  machine.files[file] = text.replace(from, () => to);
}

/** Puts markup before the end of a page's header or body. */
export function addToPanel(markup: string): NonNullable<Case['edit']> {
  return (machine) => swap(machine, 'index.html', '</main>', `${markup}</main>`);
}

export function addToManual(markup: string): NonNullable<Case['edit']> {
  return (machine) => swap(machine, 'manual.html', '</body>', `${markup}</body>`);
}

/** Puts code at the beginning of the script's one function. */
export function addToScript(code: string): NonNullable<Case['edit']> {
  return (machine) => swap(machine, 'machine.js', "'use strict';", `'use strict';\n${code}\n`);
}

export function addToStyle(css: string): NonNullable<Case['edit']> {
  return (machine) => {
    machine.files['machine.css'] += css;
  };
}

/** Makes a site folder, writes the shelf in it and gives it to `use`; removed unless `use` throws, then named. */
export async function withShelf<T>(machines: readonly TestMachine[], use: (site: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'machinery-check-'));
  const site = join(folder, 'site');
  await mkdir(site);
  await writeShelf(site, machines);
  const value = await use(site);
  await rm(folder, { recursive: true, force: true });
  return value;
}
