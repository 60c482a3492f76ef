import type { Kit, Win } from './dom.ts';
import type { StepTold } from './told.ts';

/**
 * Runs in the page after `holdTime`: adds the steps that drive `window.machine`. Each step is one call, so nothing of
 * the page's own can run inside it. What the page may replace (JSON, Array, Object) is taken before its scripts run.
 */
export function addSimulation(key: string): void {
  const win = globalThis as unknown as Win;
  const kit = win[key] as Kit;
  const stringify = JSON.stringify;
  const { max } = Math;
  const isArray = Array.isArray;
  const keysOf = Object.keys;
  const isFinite_ = Number.isFinite;
  /** More than any panel needs: a state that holds more values is refused, not walked. */
  const MOST_VALUES = 20_000;
  const DEEPEST = 40;

  let at = '';
  let bad: StepTold['bad'];
  class Misshapen {
    told: string[];
    constructor(told: string[]) {
      this.told = told;
    }
  }

  interface Machine {
    name: unknown;
    faults: unknown;
    state(): unknown;
    tick(seconds: number): void;
    inject(fault: string): void;
    reset(): void;
  }
  const machine = () => win.machine as Machine;

  function state(): object {
    const told = machine().state();
    if (told === null || typeof told !== 'object' || isArray(told)) {
      throw new Misshapen([
        `state() must return a plain object; it returned ${told === null ? 'null' : isArray(told) ? 'a list' : typeof told}`,
      ]);
    }
    return told;
  }

  /** Walks every value below `from`; stops with an error at cycles, great depth and great numbers. */
  function walk(from: unknown, visit: (path: string, value: unknown) => void): void {
    let count = 0;
    const inner = (value: unknown, path: string, depth: number): void => {
      count += 1;
      if (count > MOST_VALUES) throw new Misshapen([`state() holds more than ${MOST_VALUES} values; keep it small`]);
      if (depth > DEEPEST)
        throw new Misshapen([
          `state() is nested more than ${DEEPEST} deep, or holds itself, at ${path.slice(0, 80)}; it must be a plain object`,
        ]);
      if (value === null || typeof value !== 'object') {
        visit(path, value);
        return;
      }
      const names = keysOf(value);
      if (isArray(value)) visit(path, `list of ${value.length}`);
      for (let n = 0; n < names.length; n += 1) {
        const name = names[n] as string;
        const child = (value as Record<string, unknown>)[name];
        inner(child, isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, depth + 1);
      }
    };
    inner(from, '', 0);
  }

  const word = (value: unknown): string => {
    if (typeof value === 'string') return stringify(value);
    if (typeof value === 'number') return value === 0 && 1 / value < 0 ? '-0' : `${value}`;
    if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return `${value}`;
    return typeof value;
  };

  function flat(): { paths: string[]; values: string[] } {
    const paths: string[] = [];
    const values: string[] = [];
    walk(state(), (path, value) => {
      paths[paths.length] = path;
      values[values.length] = word(value);
      look(path, value);
    });
    return { paths, values };
  }

  function look(path: string, value: unknown): void {
    if (bad === undefined && typeof value === 'number' && !isFinite_(value)) bad = { path, value: `${value}`, at };
  }

  function alarms(): string[] {
    const told = state() as { alarms?: unknown };
    walk(told, look);
    const list = told.alarms;
    const names: string[] = [];
    if (!isArray(list)) throw new Misshapen(['state().alarms must be a list of strings, empty when all is well']);
    for (let n = 0; n < list.length; n += 1) {
      if (typeof list[n] !== 'string')
        throw new Misshapen([`state().alarms must be a list of strings; item ${n} is ${word(list[n])}`]);
      names[n] = list[n];
    }
    return names;
  }

  function reset(): void {
    at = 'reset()';
    machine().reset();
  }

  function tick(seconds: number, when: string): void {
    at = when;
    machine().tick(seconds);
  }

  /** The names in `list` that are not in `before`. */
  function fresh(list: string[], before: string[]): string[] {
    const names: string[] = [];
    for (let n = 0; n < list.length; n += 1) {
      let known = false;
      for (let m = 0; m < before.length; m += 1) if (before[m] === list[n]) known = true;
      if (!known) names[names.length] = list[n] as string;
    }
    return names;
  }

  /** Ticks second by second until an alarm is on that was not before; @returns those alarms. */
  function wait(before: string[], seconds: number, after: string): string[] {
    at = after;
    let raised = fresh(alarms(), before);
    for (let second = 1; second <= seconds && raised.length === 0; second += 1) {
      tick(1, `tick(1), ${second} s after ${after}`);
      raised = fresh(alarms(), before);
    }
    return raised;
  }

  function run60(): { paths: string[]; values: string[] }[] {
    reset();
    const seconds = [flat()];
    for (let second = 1; second <= 60; second += 1) {
      tick(1, `tick(1), ${second} s after reset()`);
      seconds[second] = flat();
    }
    return seconds;
  }

  function guarded(step: () => StepTold): string {
    bad = undefined;
    at = 'window.machine';
    let told: StepTold;
    try {
      told = step();
    } catch (error) {
      if (error instanceof Misshapen) told = { shape: error.told };
      else {
        const thrown = error as { message?: unknown; name?: unknown; stack?: unknown } | null;
        const known = thrown !== null && typeof thrown === 'object';
        const message = known && typeof thrown.message === 'string' ? `${thrown.name}: ${thrown.message}` : word(error);
        told = { threw: { message, stack: known && typeof thrown.stack === 'string' ? thrown.stack : '', at } };
      }
    }
    return stringify(bad === undefined ? told : { ...told, bad });
  }

  kit.shape = () =>
    guarded(() => {
      const given = machine() as unknown;
      if (given === null || (typeof given !== 'object' && typeof given !== 'function')) {
        return {
          shape: [
            'machine.js must assign window.machine = { name, faults, state(), tick(seconds), inject(fault), reset() }; it is not there',
          ],
        };
      }
      const shape: string[] = [];
      const api = given as unknown as Record<string, unknown>;
      at = 'window.machine.name';
      if (typeof api.name !== 'string' || api.name === '') shape[shape.length] = 'machine.name must be a string';
      at = 'window.machine.faults';
      const faults: string[] = [];
      const list = api.faults;
      if (isArray(list))
        for (let n = 0; n < list.length; n += 1) if (typeof list[n] === 'string') faults[faults.length] = list[n];
      if (!isArray(list) || faults.length !== list.length)
        shape[shape.length] = 'machine.faults must be a list of strings';
      const members = ['state', 'tick', 'inject', 'reset'];
      for (let n = 0; n < members.length; n += 1) {
        at = `window.machine.${members[n]}`;
        if (typeof api[members[n] as string] !== 'function')
          shape[shape.length] = `machine.${members[n]} must be a function`;
      }
      if (shape.length > 0) return { shape, faults };
      at = 'state()';
      alarms();
      return { faults };
    });

  kit.deterministic = () =>
    guarded(() => {
      const first = run60();
      // An odd jump of the clock, so that a state which follows the clock instead of the ticks gives itself away.
      kit.jump(98_765);
      const again = run60();
      for (let second = 0; second <= 60; second += 1) {
        const one = first[second] as { paths: string[]; values: string[] };
        const two = again[second] as { paths: string[]; values: string[] };
        const length = max(one.paths.length, two.paths.length);
        for (let n = 0; n < length; n += 1) {
          if (one.paths[n] === two.paths[n] && one.values[n] === two.values[n]) continue;
          const path = one.paths[n] ?? two.paths[n] ?? '';
          return { differs: { second, path, first: one.values[n] ?? 'nothing', again: two.values[n] ?? 'nothing' } };
        }
      }
      reset();
      for (let second = 1; second <= 10; second += 1) tick(1, `tick(1), ${second} s after reset()`);
      const alarmsByOne = alarms();
      reset();
      tick(10, 'tick(10) after reset()');
      return { alarmsByOne, alarmsByTen: alarms() };
    });

  kit.cold = () =>
    guarded(() => {
      reset();
      const atOnce = alarms();
      for (let second = 1; second <= 5; second += 1) tick(1, `tick(1), ${second} s after reset()`);
      const later = alarms();
      return { alarms: later.length > 0 ? later : atOnce };
    });

  /** Brings the machine to 5 s after reset, and remembers its alarms for `raised`. */
  let before: string[] = [];
  function ready(): void {
    reset();
    for (let second = 1; second <= 5; second += 1) tick(1, `tick(1), ${second} s after reset()`);
    before = alarms();
  }

  kit.fault = (name: string) =>
    guarded(() => {
      ready();
      at = `inject(${stringify(name)})`;
      machine().inject(name);
      const raised = wait(before, 60, `inject(${stringify(name)})`);
      reset();
      const still = alarms();
      return { alarms: raised, left: fresh(raised, fresh(raised, still)) };
    });

  kit.ready = () =>
    guarded(() => {
      ready();
      return {};
    });

  kit.raised = (what: string) => guarded(() => ({ alarms: wait(before, 60, what) }));

  kit.finite = () =>
    guarded(() => {
      reset();
      walk(state(), look);
      for (let second = 1; second <= 600 && bad === undefined; second += 1) {
        tick(1, `tick(1), ${second} s after reset()`);
        walk(state(), look);
      }
      return {};
    });

  kit.alive = () =>
    guarded(() => {
      const first = flat().values;
      let changed = false;
      for (let second = 1; second <= 600 && bad === undefined; second += 1) {
        tick(1, `tick(1), ${second} s after every control was used`);
        if (changed) {
          walk(state(), look);
          continue;
        }
        const now = flat().values;
        changed = now.length !== first.length;
        for (let n = 0; n < now.length && !changed; n += 1) changed = now[n] !== first[n];
      }
      return { changed };
    });
}
