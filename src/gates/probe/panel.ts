import { Collector } from './collector.ts';
import type { ProbedMachine } from './machine.ts';
import type { Approach, Measured } from './page/told.ts';
import { PAGE_LIMIT_MS, type Step } from './plan.ts';
import type { Tab } from './tab.ts';

const PANEL = { file: 'index.html' };
export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Takes a picture of a page; where to put it is the caller's. */
export type Take = (name: 'desktop' | 'phone' | 'manual', tab: Tab) => Promise<void>;

function step(name: string, run: (tab: Tab) => Promise<void>): Step {
  return { name, limitMs: PAGE_LIMIT_MS, run };
}

/** Loads the panel and lets a second of its own time pass, so that it is seen alive. */
export function loadPanel(machine: ProbedMachine): Step {
  return step('loading the panel', async (tab) => {
    tab.doing = 'while the panel loaded';
    await tab.goto(`${machine.base}index.html`);
    tab.doing = "while the panel's own loop ran";
    await tab.evaluate('KIT.advance(1000)');
  });
}

/** The desktop panel: what is seen, what takes the focus, and the manual. */
export function panelSteps(machine: ProbedMachine, told: Collector, take: Take): Step[] {
  return [
    step('measuring the panel', async (tab) => {
      const measured = await tab.call<Measured>('measure', machine.controls);
      tellOverflow(told, 'layout/desktop', DESKTOP.width, measured);
      tellVisible(told, machine.controls, measured);
      if (measured.dialogOpen) {
        told.add(
          'manual/closed',
          'the manual is open when the panel loads; leave <dialog data-manual> without `open` until its button is used',
          PANEL,
        );
      }
    }),
    desktopPicture(take),
    step('walking the controls with Tab', (tab) => walk(tab, told, machine)),
    step('opening and closing the manual', (tab) => tryManual(tab, told, machine, take)),
    step('opening the panel on a phone', async (tab) => {
      await loadOnPhone(tab, machine);
      tellPhone(told, await tab.call<Measured>('measure', []));
      await take('phone', tab);
    }),
    manualAlone(machine, told),
  ];
}

/** The three pictures alone, on one page: loaded once more for the phone, so that its script measures the small page. */
export function shotSteps(machine: ProbedMachine, take: Take): Step[] {
  return [
    desktopPicture(take),
    step('taking the picture with the manual open', async (tab) => {
      await clickAction(tab, 'manual');
      await until(tab, 'KIT.dialogShown()');
      await tab.call('forceDialog', true);
      await take('manual', tab);
    }),
    step('taking the phone picture', async (tab) => {
      await loadOnPhone(tab, machine);
      await take('phone', tab);
    }),
  ];
}

function desktopPicture(take: Take): Step {
  return step('taking the desktop picture', (tab) => take('desktop', tab));
}

async function loadOnPhone(tab: Tab, machine: ProbedMachine): Promise<void> {
  tab.rank = 1;
  await tab.page.setViewportSize(PHONE);
  await loadPanel(machine).run(tab);
}

function tellPhone(told: Collector, measured: Measured): void {
  tellOverflow(told, 'layout/phone', PHONE.width, measured);
  const { shown, box } = measured.manual;
  if (shown && box && box.right > 0 && box.left < PHONE.width) return;
  told.add(
    'layout/manual-phone',
    `[data-action="manual"] has no visible box on a page ${PHONE.width} px wide; it must be there on a phone too`,
    PANEL,
  );
}

/** Opens manual.html by itself: whatever goes wrong there is one kind of finding, but for what it asks of others. */
function manualAlone(machine: ProbedMachine, told: Collector): Step {
  const run = async (tab: Tab) => {
    const alone = new Collector(machine.slug);
    tab.told = alone;
    tab.doing = 'while it loaded';
    await tab.page.setViewportSize(DESKTOP);
    try {
      await tab.goto(`${machine.base}manual.html`);
    } catch (error) {
      alone.add('run/exception', error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
    tab.told = told;
    for (const { rule, message } of alone.findings()) {
      if (rule === 'run/external-request') told.add(rule, message, { rank: 3 });
      else told.add('manual/alone', `manual.html on its own: ${message}`, { file: 'manual.html' });
    }
  };
  return { ...step('loading the manual alone', run), alone: true };
}

function tellOverflow(
  told: Collector,
  rule: 'layout/desktop' | 'layout/phone',
  width: number,
  measured: Measured,
): void {
  if (measured.overflow <= 1) return;
  const widest = measured.widest ? `; ${measured.widest} reaches the farthest` : '';
  told.add(
    rule,
    `at ${width} px the panel is ${Math.round(measured.overflow)} px too wide${widest}; let it wrap or shrink`,
    PANEL,
  );
}

function tellVisible(told: Collector, controls: string[], measured: Measured): void {
  for (const [at, name] of controls.entries()) {
    const place = measured.controls[at];
    // A control that has no element at all is the check gate's finding too, but here it is one nobody can see.
    if (!place?.found)
      told.add(
        'control/visible',
        `the control ${name} is not on the panel: no element has data-control="${name}"`,
        PANEL,
      );
    else if (!place.shown) told.add('control/visible', `the control ${name} is hidden, or has no size`, PANEL);
    else if (place.box && !mostlyInside(place.box)) {
      const { left, top, width, height } = place.box;
      told.add(
        'control/visible',
        `the control ${name} lies outside the first ${DESKTOP.width}×${DESKTOP.height} (its box: ${Math.round(width)}×${Math.round(height)} at ${Math.round(left)}, ${Math.round(top)}); a visitor must see every control without scrolling`,
        PANEL,
      );
    }
  }
}

/** At least half of the box: one that a pixel of shadow or a long handle carries past the edge is still there to use. */
function mostlyInside(box: NonNullable<Measured['manual']['box']>): boolean {
  const across = Math.min(box.right, DESKTOP.width) - Math.max(box.left, 0);
  const down = Math.min(box.bottom, DESKTOP.height) - Math.max(box.top, 0);
  return across > 0 && down > 0 && across * down * 2 >= box.width * box.height;
}

async function walk(tab: Tab, told: Collector, machine: ProbedMachine): Promise<void> {
  tab.doing = 'while Tab was pressed';
  const presses = await tab.call<number>('focusStart');
  await tab.press('Tab', Math.min(presses, 400));
  const reached = await tab.call<boolean[]>('focusEnd', machine.controls);
  for (const [at, name] of machine.controls.entries()) {
    if (reached[at]) continue;
    told.add(
      'control/reachable',
      `the control ${name} cannot be reached with Tab: neither it nor anything in it takes the focus; use a button or an input, or give it tabindex="0"`,
      PANEL,
    );
  }
  const names = await tab.accessibleNames(machine.controls);
  for (const [at, name] of machine.controls.entries()) {
    if (names[at] !== '') continue;
    told.add('control/named', `the control ${name} has no accessible name; give it a <label>, text or an aria-label`, {
      ...PANEL,
      severity: 'warning',
    });
  }
}

async function clickAction(tab: Tab, action: string): Promise<boolean> {
  const { found, x, y } = await tab.call<Approach>('action', action);
  if (found) await tab.click(x, y);
  return found;
}

/** Lets the page's own time and the browser's frames pass until the condition holds. @returns whether it did. */
async function until(tab: Tab, condition: string): Promise<boolean> {
  // Thirty frames of a tenth of a second: longer than any lid, drawer or fade of a manual takes.
  return Boolean(
    await tab.evaluate(
      `(async () => { for (let n = 0; n < 30; n += 1) { if (${condition}) return true; KIT.advance(100); await KIT.painted(); } return Boolean(${condition}); })()`,
    ),
  );
}

async function tryManual(tab: Tab, told: Collector, machine: ProbedMachine, take: Take): Promise<void> {
  tab.doing = 'while the manual opened';
  const found = await clickAction(tab, 'manual');
  const opened = found && (await until(tab, 'KIT.dialogShown()'));
  if (!opened) {
    const what = found
      ? 'a click on [data-action="manual"] does not open dialog[data-manual]; it must be neither covered nor disabled'
      : 'no element has data-action="manual"';
    told.add('manual/opens', what, PANEL);
    await tab.call('forceDialog', true);
  }
  const text = await manualText(tab, machine);
  if (opened && text === '') {
    told.add(
      'manual/opens',
      'the manual opens, but its text is not inside: the dialog must hold a visible <iframe src="manual.html">',
      PANEL,
    );
  }
  await take('manual', tab);
  if (!opened) return;
  tab.doing = 'while the manual closed';
  const closer = await clickAction(tab, 'close-manual');
  if (closer && (await until(tab, '!KIT.dialogShown()'))) return;
  const what = closer
    ? 'a click on [data-action="close-manual"] does not close the manual'
    : 'no element has data-action="close-manual"';
  told.add('manual/closes', what, PANEL);
}

/** The text a reader sees in the dialog's frame; '' when there is none, or no frame with the manual in it is shown. */
async function manualText(tab: Tab, machine: ProbedMachine): Promise<string> {
  const find = () => tab.page.frames().find((each) => each.url().split(/[?#]/, 1)[0] === `${machine.base}manual.html`);
  // A lazy frame begins to load only now that it is seen.
  for (let n = 0; n < 30 && !find(); n += 1) await tab.evaluate('KIT.painted()');
  const frame = find();
  if (!frame) return '';
  const owner = await frame.frameElement();
  const box = await owner.boundingBox();
  if (!box || box.width < 40 || box.height < 40) return '';
  const text = await frame.evaluate(
    tab.expression('KIT.loaded().then(() => (document.body ? document.body.innerText : ""))'),
  );
  return String(text).trim();
}
