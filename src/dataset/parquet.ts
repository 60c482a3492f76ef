import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FlatRow, readFlat } from './normalise.ts';

type Element = Record<string, unknown> & { name: string; num_children?: number };

const leaf = (name: string, type: 'STRING' | 'BYTES' | 'BOOLEAN' | 'DOUBLE'): Element[] => [
  {
    name,
    repetition_type: 'OPTIONAL',
    ...(type === 'STRING'
      ? { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
      : { type: type === 'BYTES' ? 'BYTE_ARRAY' : type }),
  },
];
const struct = (name: string, ...fields: Element[][]): Element[] => [
  { name, repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
];
/** Parquet's three levels of a list. */
const list = (name: string, element: (name: string) => Element[]): Element[] => [
  { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element('element'),
];
const text = (name: string): Element[] => leaf(name, 'STRING');

const message = (name: string): Element[] =>
  struct(
    name,
    ...['role', 'type', 'content'].map(text),
    list('images', text),
    text('reasoning'),
    list('tool_calls', (call) => struct(call, ...['id', 'name', 'arguments'].map(text))),
    ...['tool_call_id', 'name'].map(text),
  );

const COLUMNS: [name: string, elements: Element[], value: (row: FlatRow, images: Picture[]) => unknown][] = [
  ...['id', 'task', 'model', 'provider', 'driver', 'workdir', 'started', 'ended'].map(
    (name): [string, Element[], (row: FlatRow) => unknown] => [name, text(name), ({ keys }) => keys[name] ?? null],
  ),
  ['chain', list('chain', text), ({ keys }) => keys.chain],
  ['outcome', text('outcome'), ({ keys }) => (keys.outcome as { reason?: string } | undefined)?.reason ?? ''],
  ['complete', leaf('complete', 'BOOLEAN'), ({ keys }) => keys.complete === true],
  ['truncated', leaf('truncated', 'BOOLEAN'), ({ keys }) => keys.truncated === true],
  ['messages', list('messages', message), ({ messages }) => messages],
  ['snapshots', list('snapshots', (name) => list(name, message)), ({ snapshots }) => snapshots],
  ['images', list('images', (name) => struct(name, leaf('bytes', 'BYTES'), text('path'))), (_, images) => images],
  // What has another shape in every row, or more to come: JSON in a string.
  ...['outcome', 'events', 'machinery'].map((name): [string, Element[], (row: FlatRow) => unknown] => [
    `${name}_json`,
    text(`${name}_json`),
    ({ keys }) => (keys[name] === undefined ? null : JSON.stringify(keys[name])),
  ]),
];

interface Picture {
  bytes: Uint8Array;
  path: string;
}

/** What tells the hub's viewer, and `datasets`, that the structs of `images` are pictures. */
const FEATURES = JSON.stringify({
  info: { features: { images: [{ _type: 'Image' }] } },
});

/**
 * Renders rows as one Parquet file: one type a column, messages as structs, images as `{bytes, path}`.
 * Everything is held in memory: give it tens of rows, not thousands.
 * @param paths the rows' `.jsonl` files, each beside its `images/`.
 */
export async function parquetOf(paths: string[], snapshots = true): Promise<Uint8Array<ArrayBuffer>> {
  const { ByteWriter, parquetWrite } = await import('hyparquet-writer');
  const rows: { row: FlatRow; images: Picture[] }[] = [];
  for (const path of paths) {
    const row = await readFlat(path, snapshots);
    const names = Array.isArray(row.keys.images) ? (row.keys.images as string[]) : [];
    const images = await Promise.all(
      names.map(async (name) => ({ bytes: new Uint8Array(await readFile(join(dirname(path), name))), path: name })),
    );
    rows.push({ row, images });
  }
  const schema = [{ name: 'root', num_children: COLUMNS.length }, ...COLUMNS.flatMap(([, elements]) => elements)];
  const columnData = COLUMNS.map(([name, , value]) => ({
    name,
    data: rows.map(({ row, images }) => value(row, images)),
  }));
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    columnData: columnData as Parameters<typeof parquetWrite>[0]['columnData'],
    schema: schema as NonNullable<Parameters<typeof parquetWrite>[0]['schema']>,
    kvMetadata: [{ key: 'huggingface', value: FEATURES }],
    createdBy: 'machinery',
  });
  return new Uint8Array(writer.getBuffer());
}
