import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_FILES } from '../../src/catalogue/entry.ts';
import { nextPiece, pieces, repertoireSlugs } from '../../src/rehearsal/repertoire.ts';
import { type Rehearsal, startRehearsal } from '../../src/rehearsal/server.ts';
import { goodMachines } from '../helpers/machine.ts';
import { SYSTEM, TOOLS, type Workshop, ask, callsOf, copyWorkshop, kickoff, openWorkshop, play } from './workshop.ts';

// biome-ignore lint/suspicious/noExplicitAny: what the wire holds is read as it comes.
type Json = any;

let rehearsal: Rehearsal;
const shops: Workshop[] = [];
const SLUG = 'saltersgate-cliff-lift';

beforeAll(async () => {
  rehearsal = await startRehearsal();
});
afterAll(() => rehearsal.close());
afterEach(async () => {
  await Promise.all(shops.splice(0).map((shop) => shop.close()));
});

async function open(shelf: Json[] = []): Promise<Workshop> {
  const shop = await openWorkshop(shelf);
  shops.push(shop);
  return shop;
}

async function expectFinished(shop: Workshop, before: Json[] = []): Promise<void> {
  const [piece] = await pieces();
  const folder = join(shop.root, 'site', 'machines', SLUG);
  expect((await readdir(folder)).sort()).toEqual([...MACHINE_FILES].sort());
  for (const file of MACHINE_FILES) expect(await readFile(join(folder, file), 'utf8')).toBe(piece?.files[file]);
  const shelf = JSON.parse(await readFile(join(shop.root, 'site', 'machines.json'), 'utf8'));
  expect(shelf.slice(0, -1)).toEqual(before);
  expect(shelf.at(-1)).toMatchObject({ slug: SLUG, created: new Date().toISOString().slice(0, 10) });
}

describe('a whole shift', () => {
  test('goes by the order: shelf, candidates, brief, files, entry, gates, pictures, mend, gates, pictures, success', async () => {
    const shop = await open();
    const { messages, end, turns } = await play(rehearsal.baseUrl, shop);
    expect(end.name).toBe('success');
    expect(end.args.summary).toMatch(/first pictures showed/);
    expect(turns).toBeLessThanOrEqual(25);
    await expectFinished(shop);

    const calls = callsOf(messages);
    const at = (wanted: (call: { name: string; args: Json }) => boolean) => calls.findIndex(wanted);
    const writes = calls.filter(({ name }) => name === 'write');
    const views = calls.filter(({ name }) => name === 'view').map(({ args }) => args.path);
    expect(at(({ name }) => name === 'plan')).toBeLessThan(at(({ name }) => name === 'write'));
    expect(views.map((path: string) => path.split('-').at(-1))).toEqual([
      'desktop.png',
      'phone.png',
      'manual.png',
      'desktop.png',
      'phone.png',
      'manual.png',
    ]);
    const firstView = at(({ name }) => name === 'view');
    const edits = writes.filter(({ args }) => args.startLine);
    expect(edits.length).toBeGreaterThan(0);
    expect(calls.indexOf(edits[0] as Json)).toBeGreaterThan(firstView);
    const gates = calls.filter(({ args }) => /^(bash scripts\/check|node scripts\/probe)/.test(args.command ?? ''));
    expect(gates).toHaveLength(4);
    const brief = messages.findIndex((one) => /^The brief\./.test(one.content ?? ''));
    expect(brief).toBeGreaterThan(0);
    expect(brief).toBeLessThan(messages.findIndex((one) => one.tool_calls?.[0].function.name === 'write'));
  });

  test('says the same from every prefix of the conversation', async () => {
    const shop = await open();
    const { messages } = await play(rehearsal.baseUrl, shop);
    for (const [at, message] of messages.entries()) {
      if (message.role !== 'assistant') continue;
      expect(await ask(rehearsal.baseUrl, messages.slice(0, at))).toEqual(message);
    }
  });

  test('looks at the three newest machines, and strikes what the shelf already has', async () => {
    const shelf = goodMachines(5).map(({ entry }) => entry);
    shelf.push({ ...(shelf[1] as Json), slug: 'grain-leg', name: 'Grain Leg', domain: 'marine', era: '1950s' });
    const shop = await open(shelf);
    const { messages, end } = await play(rehearsal.baseUrl, shop);
    expect(end.name).toBe('success');
    await expectFinished(shop, shelf);
    const views = callsOf(messages)
      .filter(({ name }) => name === 'view')
      .map(({ args }) => args.path);
    const newest = shelf.slice(-3).map(({ slug }) => expect.stringMatching(new RegExp(`/${slug}-desktop\\.png$`)));
    expect(views.slice(0, 3)).toEqual(newest);
    const plan = messages.find((one) => one.tool_calls?.[0].function.name === 'plan');
    expect(plan.content).toMatch(/fog signal.*STRUCK: marine, 1950s is taken by Grain Leg/i);
    expect(plan.content).toMatch(/grain elevator.*STRUCK: too near Grain Leg/i);
  });

  test('leaves every byte of the earlier entries as it was', async () => {
    const shop = await open();
    const file = join(shop.root, 'site', 'machines.json');
    const [machine] = goodMachines(1);
    const odd = `[\n {"slug":   "a", "name": "é"},\n${JSON.stringify(machine?.entry)}   ]`;
    await writeFile(file, odd);
    await play(rehearsal.baseUrl, shop);
    const text = await readFile(file, 'utf8');
    expect(text.startsWith(odd.slice(0, -1).trimEnd())).toBe(true);
    expect(JSON.parse(text)).toHaveLength(3);
  });
});

describe('work that was cut short', () => {
  test('is taken up at any turn, from the conversation and the checkout as they were', async () => {
    const shop = await open();
    const cuts: { messages: Json[]; shop: Workshop }[] = [];
    let turns = 0;
    await play(rehearsal.baseUrl, shop, {
      async before(messages) {
        // Every other turn: each kind of step is met, in half the time.
        turns += 1;
        if (turns % 2) return;
        const copy = await copyWorkshop(shop);
        shops.push(copy);
        cuts.push({ messages: [...messages], shop: copy });
      },
    });
    expect(cuts.length).toBeGreaterThan(8);
    for (const cut of cuts) {
      const messages = [...cut.messages, kickoff('Continue your task where the session left off.')];
      const { end } = await play(rehearsal.baseUrl, cut.shop, { messages });
      expect(end.name).toBe('success');
      await expectFinished(cut.shop);
    }
  }, 180_000);

  test('is taken up from the checkout alone when the conversation is lost', async () => {
    const shop = await open();
    let copy: Workshop | undefined;
    await play(rehearsal.baseUrl, shop, {
      async before(messages) {
        if (copy || callsOf(messages).filter(({ name }) => name === 'write').length < 3) return;
        copy = await copyWorkshop(shop);
        shops.push(copy);
      },
    });
    const { messages, end } = await play(rehearsal.baseUrl, copy as Workshop);
    expect(end.name).toBe('success');
    await expectFinished(copy as Workshop);
    expect(callsOf(messages).some(({ name }) => name === 'plan')).toBe(false);
  });

  test('goes on after a compaction, with the plan and the brief kept in its own summary', async () => {
    const shop = await open();
    let compacted = 0;
    const { messages, end } = await play(rehearsal.baseUrl, shop, {
      async before(now) {
        if (compacted || callsOf(now).filter(({ name }) => name === 'write').length < 2) return;
        compacted = now.length;
        const text = now
          .slice(1)
          .map((one) => `${one.role}: ${one.content}`)
          .join('\n');
        const summary = await ask(rehearsal.baseUrl, [kickoff(`Summarise:\n${text}`)], []);
        expect(summary.tool_calls).toBeUndefined();
        now.splice(1, now.length - 1, { role: 'system', content: summary.content });
      },
    });
    expect(end.name).toBe('success');
    await expectFinished(shop);
    expect(callsOf(messages).some(({ name }) => name === 'plan')).toBe(false);
    expect(messages.filter((one) => /^The brief\./.test(one.content ?? ''))).toHaveLength(0);
  });

  test('repeats a call that was interrupted', async () => {
    const shop = await open();
    let cut = false;
    const { end } = await play(rehearsal.baseUrl, shop, {
      instead(name) {
        if (name !== 'write' || cut) return undefined;
        cut = true;
        return { text: 'interrupted before it ended' };
      },
    });
    expect(end.name).toBe('success');
    await expectFinished(shop);
  });

  test('is gated and looked at again when findings come back, and given up when they come twice', async () => {
    const shop = await open();
    const first = await play(rehearsal.baseUrl, shop);
    const ended = first.messages.slice(0, -1);
    const again = kickoff('Continue. The gates found the following in it: error scope/entry');
    const second = await play(rehearsal.baseUrl, shop, { messages: [...ended, again] });
    expect(second.end.name).toBe('success');
    const since = callsOf(second.messages.slice(ended.length));
    expect(since.filter(({ name }) => name === 'view')).toHaveLength(3);
    const third = await play(rehearsal.baseUrl, shop, { messages: [...second.messages.slice(0, -1), again] });
    expect(third.end.name).toBe('failure');
    await expectFinished(shop);
  });

  test('puts right a file that somebody spoiled', async () => {
    const shop = await open();
    const { messages } = await play(rehearsal.baseUrl, shop);
    await writeFile(join(shop.root, 'site', 'machines', SLUG, 'machine.js'), 'let broken');
    await rm(join(shop.root, 'site', 'machines', SLUG, 'manual.html'));
    const on = [...messages.slice(0, -1), kickoff('Continue your task.')];
    expect((await play(rehearsal.baseUrl, shop, { messages: on })).end.name).toBe('success');
    await expectFinished(shop);
  });
});

describe('trouble that is not the script’s to mend', () => {
  test('a tool that always fails ends the run with its last answer', async () => {
    const shop = await open();
    const instead = (name: string) => (name === 'write' ? { text: 'error: read-only file system' } : undefined);
    const { end, turns } = await play(rehearsal.baseUrl, shop, { instead });
    expect(end).toMatchObject({ name: 'failure', args: { reason: expect.stringContaining('read-only file system') } });
    expect(turns).toBeLessThan(12);
  });

  test('a probe without a browser ends the run and says so', async () => {
    const shop = await open();
    await writeFile(join(shop.root, 'scripts', 'probe.js'), 'console.log("no browser here");process.exit(2)');
    const { end } = await play(rehearsal.baseUrl, shop);
    expect(end).toMatchObject({ name: 'failure', args: { reason: expect.stringContaining('no browser here') } });
  });

  test('a gate that stays red is asked again, then given up', async () => {
    const shop = await open();
    await writeFile(join(shop.root, 'scripts', 'check.sh'), 'echo "error entry/unique-place"; exit 1\n');
    const { end } = await play(rehearsal.baseUrl, shop);
    expect(end).toMatchObject({ name: 'failure', args: { reason: expect.stringContaining('entry/unique-place') } });
  });

  test('a shelf that has it all ends the run', async () => {
    const all = (await pieces()).map(({ entry }) => ({ ...entry, created: '2025-01-01' }));
    const shop = await open(all);
    expect((await play(rehearsal.baseUrl, shop)).end.name).toBe('failure');
  });
});

describe('the wire', () => {
  test('a client streams reasoning, words and calls in fragments, with usage', async () => {
    const model = createOpenAICompatible({ name: 'rehearsal', baseURL: rehearsal.baseUrl, includeUsage: true });
    const { stream } = await model('rehearsal').doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Begin.' }] }],
      tools: [{ type: 'function', name: 'shell', inputSchema: { type: 'object' } }],
    });
    const parts: Json[] = [];
    for await (const part of stream) parts.push(part);
    const of = (type: string) => parts.filter((part) => part.type === type);
    expect(of('reasoning-delta').length).toBeGreaterThan(1);
    expect(of('tool-input-delta').length).toBeGreaterThan(2);
    expect(of('tool-call').map(({ toolName }) => toolName)).toEqual(['shell', 'read']);
    const finish = of('finish')[0];
    expect(finish.finishReason.unified).toBe('tool-calls');
    expect(finish.usage.inputTokens.total).toBeGreaterThan(0);
    expect(finish.usage.outputTokens.total).toBeGreaterThan(0);
  });

  test('the stream ends with usage and [DONE], and says what the whole answer says', async () => {
    const body = JSON.stringify({ model: 'rehearsal', stream: true, tools: TOOLS, messages: [SYSTEM, kickoff()] });
    const text = await (await fetch(`${rehearsal.baseUrl}/chat/completions`, { method: 'POST', body })).text();
    const events = text
      .trim()
      .split('\n\n')
      .map((line) => line.replace(/^data: /, ''));
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((line) => JSON.parse(line));
    expect(chunks.at(-1).usage.total_tokens).toBeGreaterThan(0);
    const calls: string[] = [];
    for (const chunk of chunks) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        calls[call.index] = (calls[call.index] ?? '') + call.function.arguments;
      }
    }
    const whole = await ask(rehearsal.baseUrl, [SYSTEM, kickoff()]);
    expect(calls).toEqual(whole.tool_calls.map((call: Json) => call.function.arguments));
  });

  test('bad requests are told so', async () => {
    const post = (body: string) => fetch(`${rehearsal.baseUrl}/chat/completions`, { method: 'POST', body });
    expect((await post('{')).status).toBe(400);
    expect((await post('{"messages":7}')).status).toBe(400);
    expect((await post('{"messages":[null,7,{"role":"assistant","tool_calls":[{}]}],"tools":[{}]}')).status).toBe(200);
    expect((await fetch(`${rehearsal.baseUrl}/chat/completions`)).status).toBe(405);
    expect((await fetch(`${rehearsal.baseUrl}/nothing`)).status).toBe(404);
    const models = (await (await fetch(`${rehearsal.baseUrl}/models`)).json()) as Json;
    expect(models.data.map(({ id }: Json) => id)).toEqual(['rehearsal']);
  });

  test('closing twice is no error', async () => {
    const other = await startRehearsal();
    await other.close();
    await other.close();
    await expect(fetch(`${other.baseUrl}/models`)).rejects.toThrow();
  });
});

describe('the repertoire', () => {
  test('offers what the shelf does not have, and nothing that would collide', async () => {
    const [piece] = await pieces();
    if (!piece) throw new Error('there is no piece');
    expect(await repertoireSlugs()).toContain(SLUG);
    expect((await nextPiece([]))?.entry.slug).toBe(piece.entry.slug);
    const entry = { ...piece.entry, created: '2025-01-01' };
    const other = { slug: 'other' };
    for (const same of [
      entry,
      { ...other, domain: entry.domain, era: entry.era },
      { ...other, name: ` ${entry.name.toUpperCase()} ` },
      { ...other, palette: ['#2c6057', '#b9331e', '#000000'] },
    ]) {
      expect((await nextPiece([same]))?.entry.slug).not.toBe(piece.entry.slug);
    }
    expect((await nextPiece([{ ...other, domain: entry.domain, era: '1950s' }]))?.entry.slug).toBe(piece.entry.slug);
  });
});
