import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { FactoryError } from '../support/errors.ts';
import type { DatasetStore } from './store.ts';

/** The views that a query may use, over the rows' own files. */
function views(glob: string, largest: number): string[] {
  const columns = `{id: 'VARCHAR', chain: 'VARCHAR[]', task: 'VARCHAR', model: 'VARCHAR', provider: 'VARCHAR',
    driver: 'VARCHAR', workdir: 'VARCHAR', started: 'TIMESTAMP', ended: 'TIMESTAMP', outcome: 'JSON', complete: 'BOOLEAN',
    truncated: 'BOOLEAN', messages: 'JSON[]', snapshots: 'JSON', images: 'VARCHAR[]', events: 'JSON', machinery: 'JSON'}`;
  const source = `read_json('${glob.replaceAll("'", "''")}', format = 'newline_delimited', columns = ${columns},
    maximum_object_size = ${largest})`;
  return [
    `CREATE VIEW rows AS SELECT * FROM ${source}`,
    `CREATE VIEW tips AS SELECT * FROM rows
       WHERE id NOT IN (SELECT unnest(list_filter(chain, link -> link <> id)) FROM rows)`,
    `CREATE VIEW finished AS SELECT * FROM rows WHERE complete AND (machinery->>'outcome') = 'settled'
       AND (machinery->>'catalogue_check') = 'success' AND (machinery->>'probe') = 'success'`,
    `CREATE VIEW messages AS
       SELECT id, n - 1 AS n, message->>'role' AS role, message->>'type' AS type, message->>'content' AS content,
         message->>'reasoning' AS reasoning, message->'tool_calls' AS tool_calls, message->>'tool_call_id' AS tool_call_id,
         message->>'name' AS name
       FROM (SELECT id, unnest(messages) AS message, generate_subscripts(messages, 1) AS n FROM rows)`,
    `CREATE VIEW critiques AS
       WITH calls AS (
         SELECT id, n, unnest(CAST(tool_calls AS JSON[])) AS call FROM messages WHERE tool_calls IS NOT NULL
       ), args AS (
         SELECT id, n, call->>'$.function.arguments' AS args FROM calls WHERE (call->>'$.function.name') = 'view'
       ), shots AS (
         SELECT id, n, path FROM (
           SELECT id, n, CASE WHEN json_valid(args) THEN json_extract_string(args, '$.path') END AS path FROM args
         ) WHERE regexp_matches(path, '-(desktop|phone|manual)\\.png$')
       ), shown AS (
         SELECT shots.id, shots.n, shots.path, min(messages.n) AS seen FROM shots
         JOIN messages ON messages.id = shots.id AND messages.n > shots.n AND messages.type = 'attachment' GROUP BY ALL
       ), reactions AS (
         SELECT shown.id, shown.n, shown.path, min(messages.n) AS turn FROM shown
         JOIN messages ON messages.id = shown.id AND messages.n > shown.seen AND messages.role = 'assistant' GROUP BY ALL
       )
       SELECT reactions.*, messages.reasoning, messages.content AS said FROM reactions
       JOIN messages ON messages.id = reactions.id AND messages.n = reactions.turn ORDER BY reactions.id, reactions.n`,
  ];
}

/** DuckDB, which is optional. @throws FactoryError `process/missing`. */
async function duckdb(): Promise<typeof import('@duckdb/node-api')> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    throw new FactoryError('process/missing', {
      message: 'DuckDB is not installed, so rows cannot be asked in SQL',
      mend: 'Install it (npm install @duckdb/node-api); the other `machinery rows` commands work without it.',
      cause,
    });
  }
}

/**
 * What a query may do: read the rows' folder, and nothing else. Files elsewhere, addresses, extensions and settings are
 * shut off for good; writing into that folder is kept out by taking SELECT statements only.
 */
function fences(folder: string): string[] {
  return [
    `SET allowed_directories = ['${folder.replaceAll("'", "''")}/']`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ];
}

const ONLY_SELECT = 'only SELECT statements are run: the rows are read, never changed';

/**
 * Refuses all but one SELECT; DESCRIBE and SUMMARIZE are such to DuckDB. EXPLAIN is not: it can carry out a COPY.
 * Some statements act when they are prepared (EXPORT makes its folder), so what cannot stand in brackets as a table is
 * refused by the parser alone.
 */
async function readingOnly(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const { StatementType } = await duckdb();
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new Error('one statement at a time');
  const bare = sql.trim().replace(/;+$/, '');
  await connection.extractStatements(`SELECT * FROM (${bare}\n)`).catch(() => {
    throw new Error(ONLY_SELECT);
  });
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== StatementType.SELECT) {
    throw new Error(ONLY_SELECT);
  }
  return prepared;
}

/**
 * Asks the rows in SQL, over the views `rows`, `messages`, `tips`, `finished` and `critiques`.
 * @returns the answer's rows, as JSON values.
 * @throws FactoryError `process/missing` without DuckDB, `usage/invalid` when the query is refused.
 */
export async function query(store: DatasetStore, sql: string): Promise<Record<string, unknown>[]> {
  const { DuckDBInstance } = await duckdb();
  const rows = await store.list();
  const largest = Math.max(16 * 1024 * 1024, ...rows.map(({ bytes }) => bytes + 1024));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    if (rows.length === 0) throw new Error('there are no rows yet');
    for (const view of views(`${store.trajectories}/*/*.jsonl`, largest)) await connection.run(view);
    for (const fence of fences(store.trajectories)) await connection.run(fence);
    const prepared = await readingOnly(connection, sql);
    return (await prepared.runAndReadAll()).getRowObjectsJson() as Record<string, unknown>[];
  } catch (error) {
    throw new FactoryError('usage/invalid', {
      message: (error as Error).message,
      mend: 'The views are rows, messages, tips, finished and critiques; `DESCRIBE rows` tells their columns.',
    });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
