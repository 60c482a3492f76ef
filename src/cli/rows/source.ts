import type { Command } from 'commander';
import type { DatasetStore } from '../../dataset/store.ts';

/** Adds the option that every command over rows has. */
export function withSource(command: Command): Command {
  return command.option(
    '--source <source>',
    'hub:<owner>/<name> reads a dataset of the hub instead of the local store',
  );
}

/** Opens the rows that a command's flags name. */
export async function openRows(flags: { source?: string }, images = false): Promise<DatasetStore> {
  const { loadConfig, secretOf } = await import('../../config/load.ts');
  const { openSource } = await import('../../dataset/source.ts');
  const config = await loadConfig();
  const { endpoint } = config.dataset.hub;
  return openSource({ data: config.data, source: flags.source, endpoint, token: secretOf(config, 'HF_TOKEN'), images });
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** One line of a table, its cells as wide as told; negative widths align to the right. */
export function cells(widths: number[], values: (string | number)[]): string {
  return values
    .map((value, at) => {
      const [text, width] = [String(value), widths[at] ?? 0];
      return width < 0 ? text.padStart(-width) : text.padEnd(width);
    })
    .join('  ')
    .trimEnd();
}
