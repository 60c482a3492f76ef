import type { Dialog } from 'playwright-core';
import { judgeRequest, type ProbedMachine } from './machine.ts';
import type { Tab } from './tab.ts';

/**
 * Listens to a page, and lets it load nothing but the machine's own files: what it throws, what it writes to the
 * console, what it asks for. All of it becomes findings of the tab's collector.
 */
export async function hear(tab: Tab, machine: ProbedMachine): Promise<void> {
  const blocked: string[] = [];
  const outside = (url: string) => {
    if (blocked.length < 200) blocked.push(url);
    tab.told.add(
      'run/external-request',
      `${short(url)} was asked for, which is outside the machine's folder; a machine must load nothing but its own four files`,
      { rank: tab.rank },
    );
  };
  tab.context.on('page', (other) => {
    if (other !== tab.page) void other.close().catch(() => {});
  });
  tab.page.on('dialog', (dialog) => void answer(dialog).catch(() => {}));
  tab.page.on('websocket', (socket) => outside(socket.url()));
  // What else the calls to such a page come to depends on the moment at which it leaves.
  tab.page.on('framenavigated', (frame) => {
    const url = frame.url().split(/[?#]/, 1)[0] ?? '';
    if (frame === tab.page.mainFrame() && tab.opened !== null && url !== tab.opened) tellLeft(tab);
  });
  // Heard on the same session that the steps are sent on: what a step gave rise to arrives before its answer, so
  // `doing` is always what was being done.
  tab.cdp.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    const stack = exceptionDetails.exception?.description ?? '';
    const text = stack.split('\n')[0] || String(exceptionDetails.exception?.value ?? exceptionDetails.text);
    exception(tab, text, stack || `${exceptionDetails.url ?? ''}:${exceptionDetails.lineNumber + 1}:1`);
  });
  const error = (text: string, url: string | undefined, line: number | undefined) => {
    if (blocked.some((each) => text.includes(each))) return;
    const file = fileOf(url ?? '');
    tab.told.add('run/console-error', `${short(text)} (${tab.doing})`, {
      key: text,
      rank: tab.rank,
      ...(file ? { file, line: (line ?? 0) + 1 } : {}),
    });
  };
  tab.cdp.on('Runtime.consoleAPICalled', ({ type, args, stackTrace }) => {
    if (type !== 'error') return;
    const text = args.map(({ value, description }) => String(value ?? description ?? '')).join(' ');
    const from = stackTrace?.callFrames.find(({ url }) => fileOf(url));
    error(`console.error: ${text}`, from?.url, from?.lineNumber);
  });
  tab.cdp.on('Log.entryAdded', ({ entry }) => {
    // What failed to load is told by its own rule.
    if (entry.level === 'error' && entry.source !== 'network') error(entry.text, entry.url, entry.lineNumber);
  });
  await Promise.all([tab.cdp.send('Runtime.enable'), tab.cdp.send('Log.enable'), filter(tab, machine, outside)]);
}

/** A page that went elsewhere by itself. */
export function tellLeft(tab: Tab): void {
  const to = short(tab.page.url().split('/').pop() ?? '');
  tab.told.add('run/exception', `the page left for ${to} (${tab.doing}); a panel must stay where it is`, {
    key: `left for ${to}`,
    rank: tab.rank,
  });
}

/** Says no to whatever the page asks, but lets it go when it is told to. */
function answer(dialog: Dialog): Promise<void> {
  return dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss();
}

async function filter(tab: Tab, machine: ProbedMachine, outside: (url: string) => void): Promise<void> {
  await tab.context.route('**/*', async (route) => {
    const url = route.request().url();
    const verdict = await judgeRequest(machine, url);
    if (verdict === 'file') return route.continue();
    if (verdict === 'outside') outside(url);
    else {
      const name = url.slice(machine.base.length) || './';
      tab.told.add(
        'run/request-failed',
        `${short(name)} was asked for (${tab.doing}), and there is no such file in the machine's folder`,
        { key: name, rank: tab.rank },
      );
    }
    // An aborted navigation leaves the page as it is; any other error would put an error page in its place.
    return route.abort(route.request().isNavigationRequest() ? 'aborted' : 'blockedbyclient');
  });
}

function exception(tab: Tab, text: string, stack: string): void {
  const place = placeIn(stack);
  const where = place.file ? ` at ${place.file}:${place.line}` : '';
  tab.told.add('run/exception', `${short(text)}${where} (${tab.doing})`, {
    key: `${text}${where}`,
    rank: tab.rank,
    ...place,
  });
}

const short = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

function fileOf(url: string): string | undefined {
  return /([\w.-]+\.(?:js|html|css))(?:[?#]|$)/.exec(url)?.[1];
}

/** The first of the machine's own places that a stack names. */
export function placeIn(stack: string): { file?: string; line?: number } {
  const found = /([\w.-]+\.(?:js|html))(?:\?[^:\s)]*)?:(\d+):\d+/.exec(stack);
  return found ? { file: found[1] as string, line: Number(found[2]) } : {};
}
