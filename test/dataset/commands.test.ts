import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { register as registerCard } from '../../src/cli/commands/card.ts';
import { register as registerExport } from '../../src/cli/commands/export.ts';
import { register as registerRows } from '../../src/cli/commands/rows.ts';
import { register as registerShip } from '../../src/cli/commands/ship.ts';
import { MACHINE, SECRET, rowId, tenRows } from './rows.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'machinery-commands-'));
  await writeFile(join(dir, 'factory.yaml'), 'origin: .\n');
  await mkdir(join(dir, 'site'));
  await writeFile(join(dir, 'site', 'machines.json'), `${JSON.stringify([{ ...MACHINE, kind: 'lock' }], null, 2)}\n`);
  await tenRows(join(dir, 'data'));
  vi.stubEnv('MACHINERY_CONFIG', join(dir, 'factory.yaml'));
  vi.stubEnv('MACHINERY_DATA', join(dir, 'data'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

/** Runs a command line in this process. @returns what it printed on standard output. */
async function run(...args: string[]): Promise<string> {
  let printed = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  try {
    const program = new Command().exitOverride();
    for (const register of [registerCard, registerExport, registerRows, registerShip]) register(program);
    await program.parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return printed;
}

describe('machinery rows', () => {
  it('lists, with the filters of the card', async () => {
    const printed = await run('rows', '--finished', '--tips');
    expect(
      printed
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(['ROW', rowId(0), rowId(2), rowId(5), '3']);
    expect(JSON.parse(await run('rows', 'list', '--partial', '--json')).length).toBe(3);
  });

  it('prints CSV that a spreadsheet takes as data', async () => {
    const lines = (await run('rows', '--csv', '--model', 'model-2')).trim().split('\n');
    expect(lines.length).toBe(2);
    expect(lines[0]?.split(',').slice(0, 3)).toEqual(['id', 'chain', 'model']);
    expect(lines[1]?.startsWith(`${rowId(3)},${rowId(3)},model-2,rehearsal,`)).toBe(true);
  });

  it('shows a conversation, and knows no row that is not there', async () => {
    expect(await run('rows', 'show', 'last')).toContain('[0] user (user)');
    await expect(run('rows', 'show', '20200101-000000')).rejects.toMatchObject({ code: 'row/unknown' });
    await expect(run('rows', 'show', '../x')).rejects.toMatchObject({ code: 'session/invalid-id' });
  });

  it('tells critiques, the shelf and the counts', async () => {
    expect((await run('rows', 'critiques', '--json')).trim().split('\n').length).toBe(15);
    expect(await run('rows', 'shelf')).toContain('different: tide-gate');
    expect(await run('rows', 'stats')).toContain('10 rows, 7 tips, 3 finished machines, 3 without a result');
    expect(JSON.parse(await run('rows', 'stats', '--json')).all.rows).toBe(10);
  });

  it('checks the rows, and says by its exit status that one is wrong', async () => {
    expect(await run('rows', 'validate')).toBe('10 rows, 0 faults\n');
    expect(process.exitCode).toBeUndefined();
    await mkdir(join(dir, 'bad', rowId(0)), { recursive: true });
    await writeFile(join(dir, 'bad', rowId(0), `${rowId(0)}.jsonl`), '{}\n');
    expect(await run('rows', 'validate', join(dir, 'bad'))).toContain(`${rowId(0)}  schema:`);
    expect(process.exitCode).toBe(1);
  });

  it('asks in SQL and writes normalised copies', async () => {
    expect(await run('rows', 'sql', 'SELECT count(*)::INT AS n FROM finished')).toBe('{"n":3}\n');
    expect(await run('rows', 'export', '--format', 'openai', '--out', join(dir, 'o'))).toContain('rows.jsonl');
    expect(await run('rows', 'export', '--format', 'parquet', '--out', join(dir, 'p'))).toContain('rows-00000.parquet');
    await expect(run('rows', 'export', '--format', 'xml', '--out', dir)).rejects.toMatchObject({
      code: 'usage/invalid',
    });
  });
});

describe('machinery export', () => {
  const sessions = () => join(dir, 'data', 'sessions');

  it('renders the newest log, and prints where', async () => {
    const out = join(dir, 'out');
    const printed = await run('export', 'last', '--sessions', sessions(), '--out', out);
    expect(printed).toBe(`${join(out, rowId(9), `${rowId(9)}.jsonl`)}\n`);
    const row = JSON.parse(await readFile(printed.trim(), 'utf8'));
    expect(row.chain).toEqual([rowId(7), rowId(8), rowId(9)]);
    expect(row.snapshots.length).toBe(2);
    expect(row).not.toHaveProperty('machinery');
  });

  it('leaves snapshots out when they are refused', async () => {
    const printed = await run(
      'export',
      rowId(5),
      '--sessions',
      sessions(),
      '--out',
      join(dir, 'out'),
      '--no-snapshots',
    );
    expect(JSON.parse(await readFile(printed.trim(), 'utf8'))).not.toHaveProperty('snapshots');
  });

  it('says that a folder without logs has none', async () => {
    await expect(run('export', 'last', '--sessions', join(dir, 'site'), '--out', dir)).rejects.toMatchObject({
      code: 'session/unknown',
    });
  });
});

describe('machinery ship and card', () => {
  it('keeps rows here without a hub dataset', async () => {
    const result = JSON.parse(await run('ship', '--json'));
    expect(result.waiting.length).toBe(10);
    expect(process.exitCode).toBeUndefined();
  });

  it('takes the secrets out of a held row', async () => {
    vi.stubEnv('HF_TOKEN', SECRET);
    const path = join(dir, 'data', 'dataset', 'trajectories', rowId(6), `${rowId(6)}.jsonl`);
    await writeFile(path, (await readFile(path, 'utf8')).replace('I cannot.', JSON.stringify(SECRET).slice(1, -1)));
    await rm(join(dir, 'data', 'outbox', rowId(6)));
    await writeFile(join(dir, 'data', 'outbox', rowId(6)), '');
    expect(await run('ship')).toContain(`${rowId(6)} held in quarantine: known-secret in messages[1].content`);
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
    const printed = await run('ship', '--redact', rowId(6));
    expect(printed).not.toContain(SECRET);
    expect(printed).toContain(`${rowId(6)} waits`);
    expect(await readFile(path, 'utf8')).toContain('[redacted:known-secret]');
  });

  it('writes the card', async () => {
    expect(await run('card')).toContain('# Machinery sessions');
    await run('card', '--out', join(dir, 'CARD.md'));
    expect(await readFile(join(dir, 'CARD.md'), 'utf8')).toContain('10 rows');
  });
});
