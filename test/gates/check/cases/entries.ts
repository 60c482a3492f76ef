import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from '../../../../src/catalogue/entry.ts';
import type { Case } from './bench.ts';

/** Rewrites the catalogue's text. */
function text(change: (text: string) => string | Uint8Array): NonNullable<Case['after']> {
  return async (site) => {
    const path = join(site, 'machines.json');
    await writeFile(path, change(await readFile(path, 'utf8')));
  };
}

/** Changes the second entry as it stands in the catalogue; its files stay as they are. */
function entry(change: (entry: Entry & Record<string, unknown>, first: Entry) => void): NonNullable<Case['after']> {
  return text((before) => {
    const entries = JSON.parse(before);
    change(entries[1], entries[0]);
    return JSON.stringify(entries, null, 2);
  });
}

export const ENTRY_CASES: Case[] = [
  { rule: 'catalogue/json', name: 'a comma after the last entry', after: text((json) => json.replace(/\]\s*$/, ',]')) },
  { rule: 'catalogue/json', name: 'a comment', after: text((json) => `// shelf\n${json}`) },
  { rule: 'catalogue/json', name: 'an object and not a list', after: text((json) => `{"machines": ${json}}`) },
  { rule: 'catalogue/json', name: 'a list of something else', after: text(() => '[null]') },
  { rule: 'catalogue/json', name: 'an empty file', after: text(() => '') },
  {
    rule: 'catalogue/json',
    name: 'no UTF-8',
    after: text((json) => Buffer.from(json.replace('Harbour', 'Häfen'), 'latin1')),
  },
  {
    rule: null,
    name: 'a catalogue with a byte order mark, tabs and CRLF',
    after: text((json) => `\ufeff${JSON.stringify(JSON.parse(json), null, '\t').replaceAll('\n', '\r\n')}`),
  },

  { rule: 'entry/field', name: 'a missing string', after: entry((one) => Reflect.deleteProperty(one, 'tagline')) },
  { rule: 'entry/field', name: 'a blank string', after: entry((one) => Object.assign(one, { tagline: ' \t' })) },
  { rule: 'entry/field', name: 'a number for a string', after: entry((one) => Object.assign(one, { tagline: 4 })) },
  { rule: 'entry/field', name: 'too few colours', after: entry((one) => one.palette.splice(2)) },
  { rule: 'entry/field', name: 'too few controls', after: entry((one) => one.controls.splice(3)) },
  { rule: 'entry/field', name: 'too few faults', after: entry((one) => one.faults.splice(1)) },
  { rule: 'entry/field', name: 'a list that holds a blank', after: entry((one) => one.controls.push(' ')) },
  { rule: 'entry/field', name: 'a list that holds a number', after: entry((one) => one.faults.push(7 as never)) },
  { rule: 'entry/field', name: 'an object for a list', after: entry((one) => Object.assign(one, { faults: {} })) },
  { rule: 'entry/field', name: 'an unknown key', after: entry((one) => Object.assign(one, { colour: 'blue' })) },
  {
    rule: null,
    name: 'keys in another order',
    after: entry((one) => {
      const { slug, ...rest } = { ...one };
      for (const key of Object.keys(one)) Reflect.deleteProperty(one, key);
      Object.assign(one, rest, { slug });
    }),
  },

  ...['Machine-1', 'machine--1', '-machine', 'machine_1', '../machine-1', 'mächine'].map(
    (slug): Case => ({
      rule: 'entry/slug',
      name: `the slug ${slug}`,
      edit: (machine) => {
        machine.entry.slug = slug;
      },
      after: entry(() => {}),
    }),
  ),
  {
    rule: null,
    name: 'a slug of digits and single dashes',
    edit: (machine) => {
      machine.entry.slug = '4-b-9';
    },
  },

  {
    rule: 'entry/unique-name',
    name: 'the same name in capitals, with two spaces',
    after: entry((one, first) => {
      one.name = first.name.toUpperCase().replace(' ', '  ');
    }),
  },
  {
    rule: 'entry/unique-kind',
    name: 'the same kind',
    after: entry((one, first) => {
      one.kind = ` ${first.kind}`;
    }),
  },
  {
    rule: 'entry/unique-design',
    name: 'the same design',
    after: entry((one, first) => {
      one.design = first.design.toUpperCase();
    }),
  },
  {
    rule: 'entry/unique-interaction',
    name: 'the same interaction',
    after: entry((one, first) => {
      one.interaction = first.interaction.replace(' ', '\n');
    }),
  },
  {
    rule: null,
    name: 'a kind that is the name of another',
    after: entry((one, first) => {
      one.kind = first.name;
    }),
  },

  {
    rule: 'entry/domain',
    name: 'a domain of no vocabulary',
    after: entry((one) => {
      one.domain = 'cooking';
    }),
  },
  {
    rule: 'entry/era',
    name: 'an era of no vocabulary',
    after: entry((one) => {
      one.era = '1930s';
    }),
  },
  {
    rule: 'entry/unique-place',
    name: 'the same domain and era',
    after: entry((one, first) => {
      one.domain = first.domain;
      one.era = first.era;
    }),
  },
  {
    rule: null,
    name: 'the same domain in another era',
    after: entry((one, first) => {
      one.domain = first.domain;
      one.era = '2020s';
    }),
  },
  {
    rule: 'entry/design-words',
    name: 'five words and a dash',
    after: entry((one) => {
      one.design = 'black steel cabinet - red lamps';
    }),
  },
  {
    rule: null,
    name: 'six words',
    after: entry((one) => {
      one.design = 'black steel cabinet with red lamps';
    }),
  },

  {
    rule: 'entry/palette',
    name: 'a short colour',
    after: entry((one) => {
      one.palette.push('#fff');
    }),
  },
  {
    rule: 'entry/palette',
    name: 'a named colour',
    after: entry((one) => {
      one.palette.push('red');
    }),
  },
  {
    rule: 'entry/palette',
    name: 'an accent too near the chassis',
    after: entry((one) => {
      one.palette = ['#ff0000', '#ff3b00', '#00ff00'];
    }),
  },
  {
    rule: null,
    name: 'an accent just far enough, in capitals',
    after: entry((one) => {
      one.palette = ['#FF0000', '#FF3C00', '#00FF00'];
    }),
  },
  {
    rule: 'entry/unique-palette',
    name: 'colours just too near another',
    after: entry((one, first) => {
      one.palette = ['#e8b7c8', first.palette[1] as string, '#00ff00'];
      first.palette[0] = '#e8dfc8';
      one.palette[1] = '#8a8a1c'.replace('8a1c', '5a3c');
    }),
  },
  {
    rule: null,
    name: 'the colours of another the other way round',
    after: entry((one, first) => {
      one.palette = [first.palette[1] as string, first.palette[0] as string, '#00ff00'];
    }),
  },

  ...['2025-02-29', '2025-13-01', '25-01-01', '2025-1-1', 'yesterday', '2025-01-01T00:00:00Z'].map(
    (created): Case => ({
      rule: 'entry/created',
      name: `created ${created}`,
      after: entry((one) => {
        one.created = created;
      }),
    }),
  ),
  {
    rule: null,
    name: 'a leap day',
    after: entry((one) => {
      one.created = '2024-02-29';
    }),
  },
];
