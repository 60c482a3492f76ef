import { appendFile, cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Case, addToStyle } from './bench.ts';

const inFolder =
  (act: (folder: string) => Promise<unknown>): NonNullable<Case['after']> =>
  async (site, slug) => {
    await act(join(site, 'machines', slug));
  };

export const FILE_CASES: Case[] = [
  { rule: 'files/set', name: 'no folder', after: inFolder((folder) => rm(folder, { recursive: true })) },
  {
    rule: 'files/set',
    name: 'a folder that is a link',
    after: inFolder(async (folder) => {
      await cp(folder, `${folder}/../../elsewhere`, { recursive: true });
      await rm(folder, { recursive: true });
      await symlink('../elsewhere', folder);
    }),
  },
  { rule: 'files/set', name: 'a missing stylesheet', after: inFolder((folder) => rm(join(folder, 'machine.css'))) },
  { rule: 'files/set', name: 'a dot file', after: inFolder((folder) => writeFile(join(folder, '.DS_Store'), '')) },
  { rule: 'files/set', name: 'a folder inside', after: inFolder((folder) => mkdir(join(folder, 'img'))) },
  {
    rule: 'files/set',
    name: 'a file in other letters',
    after: inFolder((folder) => rename(join(folder, 'machine.css'), join(folder, 'Machine.css'))),
  },
  {
    rule: 'files/regular',
    name: 'a linked file',
    after: inFolder(async (folder) => {
      await rename(join(folder, 'machine.css'), `${folder}.css`);
      await symlink(`../${folder.split('/').at(-1)}.css`, join(folder, 'machine.css'));
    }),
  },
  {
    rule: 'files/regular',
    name: 'a folder under the name of a file',
    after: inFolder(async (folder) => {
      await rm(join(folder, 'machine.css'));
      await mkdir(join(folder, 'machine.css'));
    }),
  },
  { rule: 'files/size', name: 'more than 200 KB', edit: addToStyle(`/*${'x'.repeat(200 * 1024)}*/`) },
  { rule: 'files/size', name: 'more than 160 KB', edit: addToStyle(`/*${'x'.repeat(165 * 1024)}*/`) },
  { rule: 'files/size', name: 'a file too large to be read', edit: addToStyle(`/*${'x'.repeat(600 * 1024)}*/`) },
  { rule: null, name: '150 KB', edit: addToStyle(`/*${'x'.repeat(150 * 1024 - 12_000)}*/`) },
  ...(['index.html', 'machine.css', 'machine.js', 'manual.html'] as const).map(
    (file): Case => ({
      rule: 'files/encoding',
      name: `Latin-1 in ${file}`,
      after: inFolder((folder) =>
        appendFile(join(folder, file), Buffer.from(file.endsWith('html') ? '<!-- \xe4 -->' : '/* \xe4 */', 'latin1')),
      ),
    }),
  ),
  {
    rule: null,
    name: 'a byte order mark and characters of four bytes',
    edit: (machine) => {
      for (const file of ['machine.css', 'machine.js'] as const)
        machine.files[file] = `\ufeff/* 🜂 */${machine.files[file]}`;
    },
  },
  {
    rule: 'files/unlisted',
    name: 'a folder that no entry names',
    after: (site) => mkdir(join(site, 'machines', 'wip')).then(() => {}),
  },
  { rule: null, name: 'a file beside the folders', after: (site) => writeFile(join(site, 'machines', '.gitkeep'), '') },
];
