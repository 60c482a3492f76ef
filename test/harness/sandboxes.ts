import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSandbox } from '../../src/harness/confine/choose.ts';
import type { SandboxKind } from '../../src/harness/types.ts';

/** The agent's user for tests: the product's own where it exists, else one that every Debian has and nothing runs as. */
export const TEST_USER = process.env.MACHINERY_TEST_USER ?? 'games';

async function works(kind: SandboxKind): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'machinery-sandbox-'));
  chmodSync(folder, 0o755);
  const chosen = chooseSandbox(kind, { data: join(folder, 'data'), user: TEST_USER });
  return chosen
    .then(
      () => true,
      () => false,
    )
    .finally(() => rmSync(folder, { recursive: true, force: true }));
}

const all: SandboxKind[] = ['none', 'bwrap', 'user'];

/** The confinements that work on this machine. */
export const sandboxes: SandboxKind[] = [];
for (const kind of all) if (await works(kind)) sandboxes.push(kind);
