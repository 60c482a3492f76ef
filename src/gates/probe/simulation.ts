import { fold } from '../../catalogue/name.ts';
import type { Collector } from './collector.ts';
import type { ProbedMachine } from './machine.ts';
import type { Approach, StepTold } from './page/told.ts';
import { SIMULATION_LIMIT_MS, type Step } from './plan.ts';
import { placeIn } from './hear.ts';
import type { Tab } from './tab.ts';

const SCRIPT = { file: 'machine.js' };

/** The steps that drive `window.machine`, and those that work its panel as a visitor and watch what the machine does. */
export function simulationSteps(machine: ProbedMachine, told: Collector): Step[] {
  // What the first step finds decides which others make sense: without a tick() there is nothing to time.
  const api = { whole: false, faults: [] as string[] };
  const step = (name: string, run: (tab: Tab) => Promise<void>, always = false): Step => ({
    name,
    limitMs: SIMULATION_LIMIT_MS,
    run: async (tab) => {
      tab.doing = `during ${name}`;
      if (always || api.whole) await run(tab);
    },
  });
  const ask = async (tab: Tab, name: string, ...given: unknown[]) => {
    const answer = await tab.call<StepTold>(name, ...given);
    tellCommon(told, answer);
    return answer;
  };
  const own = (fault: string) => api.faults.find((name) => fold(name) === fold(fault)) ?? fault;

  return [
    step(
      'reading window.machine',
      async (tab) => {
        const answer = await ask(tab, 'shape');
        api.whole = !answer.shape && !answer.threw;
        api.faults = answer.faults ?? [];
        if (api.whole) tellFaults(told, machine.faults, api.faults);
      },
      true,
    ),
    step('two runs of reset() and 60 ticks', async (tab) => tellDeterministic(told, await ask(tab, 'deterministic'))),
    step('reset() and 5 ticks', async (tab) => {
      const { alarms = [] } = await ask(tab, 'cold');
      if (alarms.length > 0) {
        told.add('alarm/cold', `${list(alarms)} within 5 s of reset(); a cold machine must have no alarm`, SCRIPT);
      }
    }),
    ...machine.faults.map((fault) =>
      step(`inject('${fault}') and 60 ticks`, async (tab) => {
        const answer = await ask(tab, 'fault', own(fault));
        if (answer.threw || answer.shape) return;
        if (answer.alarms?.length === 0) {
          told.add(
            'alarm/fault',
            `inject('${fault}') 5 s after reset() raises no alarm within 60 s; every fault must put a name in state().alarms`,
            SCRIPT,
          );
        }
        if (answer.left && answer.left.length > 0) {
          told.add(
            'alarm/reset',
            `reset() leaves ${list(answer.left)} on, which the fault '${fault}' had raised; it must clear every fault and alarm`,
            SCRIPT,
          );
        }
      }),
    ),
    step('ten minutes of ticks', async (tab) => void (await ask(tab, 'finite'))),
    ...machine.faults.map((fault) =>
      step(`using the switch of the fault '${fault}'`, (tab) => useFault(tab, told, fault, ask)),
    ),
    step('using every control and ten minutes of ticks', async (tab) => {
      await tab.call('ready');
      for (const control of machine.controls) await useControl(tab, control);
      const answer = await ask(tab, 'alive');
      if (answer.changed === false) {
        told.add(
          'state/alive',
          'state() stays the same for ten minutes after every control has been used once; the controls should set something going',
          {
            ...SCRIPT,
            severity: 'warning',
          },
        );
      }
    }),
  ];
}

type Ask = (tab: Tab, name: string, ...given: unknown[]) => Promise<StepTold>;

/** Time the page gets after an input, so that a lid can lift or a held key count: half a second of its own frames. */
const SETTLE = 'KIT.advance(500)';

async function useFault(tab: Tab, told: Collector, fault: string, ask: Ask): Promise<void> {
  const raised = async () => ((await ask(tab, 'raised', `the switch of '${fault}' was used`)).alarms?.length ?? 0) > 0;
  const click = async () => {
    const { x, y } = await tab.call<Approach>('faultSwitch', fault);
    await tab.click(x, y);
  };
  if ((await ask(tab, 'ready')).threw) return;
  const { found } = await tab.call<Approach>('faultSwitch', fault);
  if (!found) {
    told.add(
      'fault/panel',
      `no element has data-fault="${fault}"; give the panel a test switch or key that triggers it`,
      { file: 'index.html' },
    );
    return;
  }
  await click();
  if (await raised()) return;
  // The first click may have lifted a guard, or what was clicked may answer in its own animation loop.
  await tab.evaluate(SETTLE);
  await click();
  await tab.evaluate(SETTLE);
  if (await raised()) return;
  await ask(tab, 'ready');
  await tab.call('focusFault', fault);
  await tab.press('Enter');
  await tab.evaluate(SETTLE);
  if (await raised()) return;
  told.add(
    'fault/panel',
    `using [data-fault="${fault}"] (a click, then Enter) raises no alarm within 60 s; it must inject the fault, and be neither covered nor disabled`,
    { file: 'index.html' },
  );
}

/** Uses a control once, as a visitor would: a click, an arrow key for what slides, a character for what takes text. */
async function useControl(tab: Tab, control: string): Promise<void> {
  tab.doing = `while the control ${control} was used`;
  const { found, x, y, how, key } = await tab.call<Approach>('control', control);
  if (!found) return;
  if (how === 'click') await tab.click(x, y);
  else if (how === 'text') await tab.cdp.send('Input.insertText', { text: key });
  else await tab.press(key as 'ArrowUp');
  // What its handlers threw has been heard once this comes back.
  await tab.evaluate('0');
}

function tellCommon(told: Collector, answer: StepTold): void {
  for (const message of answer.shape ?? []) told.add('api/shape', message, SCRIPT);
  if (answer.threw) {
    const place = placeIn(answer.threw.stack);
    const where = place.file ? ` at ${place.file}:${place.line}` : '';
    told.add('run/exception', `${answer.threw.message}${where} (in ${answer.threw.at})`, {
      key: `${answer.threw.message}${where}`,
      ...(place.file ? place : SCRIPT),
    });
  }
  if (answer.bad) {
    const { path, value, at } = answer.bad;
    told.add('state/finite', `state().${path} is ${value} (${at}); every number must stay finite`, {
      ...SCRIPT,
      key: path,
    });
  }
}

function tellFaults(told: Collector, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.some((other) => fold(other) === fold(name)));
  const extra = given.filter((name) => !wanted.some((other) => fold(other) === fold(name)));
  if (missing.length === 0 && extra.length === 0) return;
  const parts = [
    ...(missing.length > 0 ? [`lacks ${list(missing)}`] : []),
    ...(extra.length > 0 ? [`has ${list(extra)}, which the entry does not name`] : []),
  ];
  told.add(
    'api/faults',
    `machine.faults ${parts.join(' and ')}; it must be exactly the entry's faults: ${list(wanted)}`,
    SCRIPT,
  );
}

function tellDeterministic(told: Collector, answer: StepTold): void {
  if (answer.differs) {
    const { second, path, first, again } = answer.differs;
    const where = path === '' ? 'state()' : `state().${path}`;
    told.add(
      'api/deterministic',
      `two runs of reset() and 60 ticks of 1 s differ: ${second} s after reset() ${where} is ${first} in one and ${again} in the other; use neither the clock nor Math.random in tick(), and let reset() set everything`,
      SCRIPT,
    );
    return;
  }
  const { alarmsByOne, alarmsByTen } = answer;
  if (!alarmsByOne || !alarmsByTen) return;
  if ([...new Set(alarmsByOne)].sort().join('\n') === [...new Set(alarmsByTen)].sort().join('\n')) return;
  told.add(
    'api/deterministic',
    `after reset(), tick(1) ten times gives ${list(alarmsByOne)} and tick(10) once gives ${list(alarmsByTen)}; let tick() cut long times into small equal steps`,
    SCRIPT,
  );
}

function list(names: string[]): string {
  if (names.length === 0) return 'no alarm';
  const shown = names.slice(0, 6).map((name) => `'${name.length > 60 ? `${name.slice(0, 60)}…` : name}'`);
  return names.length > 6 ? `${shown.join(', ')} and ${names.length - 6} more` : shown.join(', ');
}
