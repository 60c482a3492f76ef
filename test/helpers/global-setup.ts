import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives every test a git configuration of its own, so that no developer's settings change a verdict. */
export default function setup(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'machinery-git-'));
  const file = join(dir, 'gitconfig');
  writeFileSync(file, '[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n');
  process.env.GIT_CONFIG_GLOBAL = file;
  process.env.GIT_CONFIG_NOSYSTEM = '1';
  return () => rmSync(dir, { recursive: true, force: true });
}
