import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';

interface Flags {
  site: string;
  out: string;
  shotsOnly?: boolean;
  json?: boolean;
}

/** `machinery probe`: opens machines in a real browser, judges them and takes their pictures. */
export function register(program: Command): void {
  program
    .command('probe')
    .description('open machines in a real browser: drive them, work their panels as a visitor would, take pictures')
    .argument('[slug...]', "the machines to open; default: the catalogue's last entry")
    .option('--site <dir>', 'the folder that holds machines.json and machines/', 'site')
    .option('--out <dir>', 'where the pictures go', join(tmpdir(), 'machinery'))
    .option('--shots-only', 'take the pictures and judge nothing')
    .option('--json', 'print the report as JSON on standard output, and nothing else there')
    .addHelpText(
      'after',
      `
Examples:
  machinery probe                                  the newest machine
  machinery probe harbour-ice-plant --json
  machinery probe one two three --shots-only --out /tmp/shots

Pictures: <slug>-desktop.png (1440x900), <slug>-phone.png (390x844), <slug>-manual.png (the manual open).
Exit code: 0 when no finding is an error, 1 when one is, 2 when the gate could not run. The rules: docs/gates.md.`,
    )
    .action(async (slugs: string[], flags: Flags) => {
      const { findChromium } = await import('../../gates/probe/chromium.ts');
      const { probe } = await import('../../gates/probe/probe.ts');
      const out = resolve(flags.out);
      const interrupt = interruption();
      try {
        const report = await probe({
          site: resolve(flags.site),
          slugs,
          out,
          chromium: await findChromium(),
          signal: interrupt.signal,
          ...(flags.shotsOnly ? { shotsOnly: true } : {}),
        });
        if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
        else {
          const { printReport, showsColour } = await import('../../gates/print.ts');
          process.stdout.write(printReport(report, { colour: showsColour(process.stdout), site: flags.site }));
          process.stdout.write(`pictures: ${report.machines.map((slug) => join(out, `${slug}-*.png`)).join(' ')}\n`);
        }
        process.exitCode = report.ok ? 0 : 1;
      } catch (error) {
        if (!interrupt.signal.aborted) throw error;
        process.exitCode = interrupt.exitCode();
      } finally {
        interrupt.stop();
      }
    });
}

/** Turns the first SIGINT, SIGTERM or SIGHUP into an abort, so that the browser and its profile are gone before we are. */
function interruption() {
  const controller = new AbortController();
  let code = 1;
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const onSignal = (name: NodeJS.Signals) => {
    code = 128 + constants.signals[name];
    controller.abort(new Error(`ended by ${name}`));
  };
  for (const name of names) process.on(name, onSignal);
  return {
    signal: controller.signal,
    exitCode: () => code,
    stop: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
