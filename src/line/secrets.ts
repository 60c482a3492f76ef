import { FactoryError } from '../support/errors.ts';
import { secretForms } from '../support/redact.ts';
import type { Git } from './git.ts';
import { readObjects, shown } from './tree.ts';

/**
 * Looks for the known secrets, in every form, in everything a push would send: contents, names and messages, also of
 * snapshots that later ones have changed again.
 * @param has commits that the origin has already.
 * @throws FactoryError `line/secret`, which names the file and never the secret.
 */
export async function refuseSecrets(
  git: Git,
  secrets: readonly string[],
  commit: string,
  has: string[],
): Promise<void> {
  const forms = secrets.flatMap(secretForms).map((form) => Buffer.from(form));
  if (forms.length === 0) return;
  const listing = await git.run(['rev-list', '--objects', commit, ...has.map((each) => `^${each}`)]);
  const names = new Map<string, string>();
  for (const line of listing.toString('latin1').split('\n')) {
    const [id = '', ...name] = line.split(' ');
    if (id !== '') names.set(id, name.join(' '));
  }
  if (names.size === 0) return;
  const sizes = await git.text(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    input: Buffer.from(`${[...names.keys()].join('\n')}\n`),
  });
  const wanted = sizes
    .split('\n')
    .map((line) => line.split(' '))
    .map(([id = '', size]) => ({ id, size: Number(size) || 0 }));
  for await (const { id, content } of readObjects(git, wanted)) {
    if (!forms.some((form) => content.includes(form))) continue;
    // A name can hold the secret itself, so a folder is named only by what it is in.
    const name = names.get(id) ?? '';
    const told = forms.some((form) => Buffer.from(name, 'latin1').includes(form))
      ? 'a file whose name holds it'
      : shown(name);
    const where = name === '' ? `the message or the top folder of ${commit.slice(0, 12)}` : told;
    throw new FactoryError('line/secret', {
      message: `a known secret is in ${where}: nothing was pushed`,
      mend: 'Replace that secret at once, since the agent has seen it. The work stays in the git dir of the line and is not pushed.',
      data: { where, object: id },
    });
  }
}
