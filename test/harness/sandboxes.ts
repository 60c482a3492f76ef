import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSandbox } from '../../src/harness/confine/choose.ts';
import type { SandboxKind } from '../../src/harness/types.ts';

async function works(kind: SandboxKind, user: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'machinery-sandbox-'));
  chmodSync(folder, 0o755);
  const chosen = chooseSandbox(kind, { data: join(folder, 'data'), user });
  return chosen
    .then(
      () => true,
      () => false,
    )
    .finally(() => rmSync(folder, { recursive: true, force: true }));
}

const all: SandboxKind[] = ['none', 'bwrap', 'user'];

/**
 * The confinements that work on this machine. `user` is tried as one of the users that every Debian has and that nothing
 * runs as; each test file takes another one, because every process of the agent's user is ended after a run.
 */
export async function workingSandboxes(user: 'games' | 'news' | 'uucp' | 'irc'): Promise<SandboxKind[]> {
  const working: SandboxKind[] = [];
  for (const kind of all) if (await works(kind, user)) working.push(kind);
  return working;
}
