import { createHash } from 'node:crypto';
import type { Git } from './git.ts';
import type { Tree } from './tree.ts';

/** Commits are made by one `git fast-import`: contents in, a commit out, no index and no work tree that could be tricked. */

export interface Author {
  name: string;
  email: string;
}

export interface NewCommit {
  /** The ref that the commit becomes the tip of. */
  ref: string;
  parents: string[];
  author: Author;
  message: string;
  /** Every file of the commit. */
  tree: Tree;
  /** The content of those files that git may not have yet, by id. */
  contents: Map<string, Buffer>;
  /** Let the ref leave its present tip behind. */
  force?: boolean;
}

/** The id git gives to a file's content. */
export function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

function quoted(path: string): string {
  const escaped = path.replace(/[^ !#-[\]-~]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return `"${escaped}"`;
}

function person({ name, email }: Author): string {
  const plain = (text: string) => text.replace(/[<>\p{Cc}]/gu, '').trim();
  return `${plain(name)} <${plain(email)}> ${Math.floor(Date.now() / 1000)} +0000`;
}

/** Writes a commit and moves its ref to it. @returns the commit's id. */
export async function writeCommit(git: Git, wanted: NewCommit): Promise<string> {
  const parts: Buffer[] = [];
  const say = (text: string) => parts.push(Buffer.from(text));
  const data = (content: Uint8Array) => {
    say(`data ${content.byteLength}\n`);
    parts.push(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
    say('\n');
  };
  for (const content of wanted.contents.values()) {
    say('blob\n');
    data(content);
  }
  say(`commit ${wanted.ref}\nmark :1\nauthor ${person(wanted.author)}\ncommitter ${person(wanted.author)}\n`);
  data(Buffer.from(wanted.message));
  for (const [index, parent] of wanted.parents.entries()) say(`${index === 0 ? 'from' : 'merge'} ${parent}\n`);
  say('deleteall\n');
  for (const [path, entry] of wanted.tree) say(`M ${entry.mode} ${entry.id} ${quoted(path)}\n`);
  say('\nget-mark :1\ndone\n');
  const args = ['fast-import', '--quiet', '--done', '--date-format=raw', ...(wanted.force ? ['--force'] : [])];
  return git.text(args, { input: Buffer.concat(parts) });
}
