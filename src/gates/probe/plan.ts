import type { Browser } from 'playwright-core';
import type { Collector } from './collector.ts';
import { tellLeft } from './hear.ts';
import type { ProbedMachine } from './machine.ts';
import { Gone, Hang, Tab, type TabOptions } from './tab.ts';

/** Limits of docs/gates.md, in milliseconds. */
export const PAGE_LIMIT_MS = 10_000;
export const SIMULATION_LIMIT_MS = 20_000;
/** A whole machine ends within 45 s; what is left then is for killing pages, pictures without script, and the report. */
export const MACHINE_LIMIT_MS = 38_000;

/** One thing that is tried on a page. Its name is told when it hangs, or could not be tried. */
export interface Step {
  name: string;
  limitMs: number;
  /** It opens its page itself, so it can be tried also when the panel does not load. */
  alone?: true;
  run(tab: Tab): Promise<void>;
}

/** What every page of one machine's probe shares. */
export interface Visit {
  browser: Browser;
  machine: ProbedMachine;
  told: Collector;
  /** `performance.now()` after which no more steps are begun. */
  deadline: number;
}

/**
 * Opens a page, loads the panel and tries steps on it in turn. When one hangs its page is killed and the rest go on in
 * a new one, while there is time. When the panel cannot even be loaded, only the steps that do without it are tried.
 */
export async function carryOut(visit: Visit, options: TabOptions, load: Step, steps: Step[]): Promise<void> {
  let left = [...steps];
  let loads = true;
  while (left.length > 0 && performance.now() < visit.deadline) {
    const tab = await Tab.open(visit.browser, visit.machine, visit.told, options);
    try {
      if (loads && !(await attempt(visit, tab, load))) {
        loads = false;
        visit.told.addNotRun(
          left.filter(({ alone }) => !alone).map(({ name }) => name),
          options.rank,
        );
        left = left.filter(({ alone }) => alone);
        continue;
      }
      let alive = true;
      while (alive && left.length > 0) alive = await attempt(visit, tab, left.shift() as Step);
    } finally {
      await tab.close();
    }
  }
  visit.told.addNotRun(
    left.map(({ name }) => name),
    options.rank,
  );
}

/** Runs one step; what goes wrong becomes a finding. @returns whether the page can be used for the next. */
async function attempt(visit: Visit, tab: Tab, step: Step): Promise<boolean> {
  const left = visit.deadline - performance.now();
  if (left <= 0) {
    visit.told.addNotRun([step.name], tab.rank);
    return false;
  }
  try {
    await tab.within(step.name, step.limitMs, visit.deadline, () => step.run(tab));
    return true;
  } catch (error) {
    if (!visit.browser.isConnected()) throw error;
    const { told, rank } = tab;
    if (error instanceof Hang) visit.told.addHang(error.step, error.seconds);
    else if (error instanceof Gone) told.add('run/exception', `${error.message} (${tab.doing})`, { rank });
    else if (LEFT.test(String(error))) tellLeft(tab);
    else told.add('run/exception', `${step.name} could not be done: ${oneLine(error)}`, { rank });
    // Whatever went wrong, the next step gets a page that is as it was when it loaded.
    return false;
  }
}

/** What Chromium says of a call to a page that is not there any more. */
const LEFT =
  /navigated or closed|has been detached|context was destroyed|Cannot find (default execution )?context|__probe_\w+ is not defined/;

const oneLine = (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
