import { FactoryError } from '../support/errors.ts';
import { type LineContext, localRef } from './context.ts';
import { shown } from './tree.ts';

/** Refuses an origin that is a folder whose checked-out main has changes that are not committed: a landing would meet them. */
export async function refuseDirtyOrigin({ origin, git, main }: LineContext): Promise<void> {
  if (origin.path === null) return;
  const call = { cwd: origin.path, gitDir: null };
  const facts = await git
    .ask(['rev-parse', '--is-bare-repository', '--symbolic-full-name', 'HEAD'], call)
    .catch(() => null);
  if (facts?.toString().trim() !== `false\n${localRef(main)}`) return;
  const status = await git.run(
    ['status', '--porcelain', '-z', '--untracked-files=no', '--ignore-submodules', '--no-renames'],
    call,
  );
  const files = status
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => shown(line.slice(3)));
  if (files.length === 0) return;
  const named = files.slice(0, 10).join(', ') + (files.length > 10 ? ` and ${files.length - 10} more` : '');
  throw new FactoryError('origin/dirty', {
    message: `${main} is checked out in ${origin.path} with changes that are not committed: ${named}`,
    mend: 'Commit them or put them aside (git stash); the shift lands on that branch and updates that folder.',
    data: { origin: origin.path, files },
  });
}
