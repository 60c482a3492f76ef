import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A checkout in a temporary folder with stand-ins for the two gates, and the agent's tools at work in it. */

// biome-ignore lint/suspicious/noExplicitAny: messages and answers are whatever the wire holds.
type Json = any;

export interface Workshop {
  root: string;
  close(): Promise<void>;
}

export interface Played {
  messages: Json[];
  /** The call that ended the run. */
  end: { name: string; args: Json };
  turns: number;
}

/** Refuses the first version's flaw as the real probe does, and leaves a picture whatever it finds. */
const PROBE = `const fs=require('fs'),slugs=process.argv.slice(2).filter(a=>!a.startsWith('--')),out=process.env.TMPDIR+'/machinery';
fs.mkdirSync(out,{recursive:true});let bad=0;
for(const s of slugs){for(const n of process.argv.includes('--shots-only')?['desktop']:['desktop','phone','manual']){
fs.writeFileSync(out+'/'+s+'-'+n+'.png','png');console.log('picture '+out+'/'+s+'-'+n+'.png');}
const css='site/machines/'+s+'/machine.css';
if(fs.existsSync(css)&&fs.readFileSync(css,'utf8').includes('repeat(5, 5.8rem)')){bad=1;console.log('error layout/phone '+s);}}
process.exit(bad);`;

export async function openWorkshop(shelf: Json[] = []): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-'));
  const root = join(folder, 'checkout');
  await mkdir(join(root, 'site', 'machines'), { recursive: true });
  await mkdir(join(root, 'scripts'));
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(root, 'site', 'machines.json'), `${JSON.stringify(shelf, null, 2)}\n`);
  await writeFile(join(root, 'scripts', 'check.sh'), 'echo "check ok: $1"\n');
  await writeFile(join(root, 'scripts', 'probe.js'), PROBE);
  const commit = 'git init -q . && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm base';
  await sh(commit, root, folder);
  return { root, close: () => rm(folder, { recursive: true, force: true }) };
}

/** A second workshop in the state that this one is in. */
export async function copyWorkshop(from: Workshop): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-'));
  await cp(dirname(from.root), folder, { recursive: true });
  return { root: join(folder, 'checkout'), close: () => rm(folder, { recursive: true, force: true }) };
}

function sh(command: string, cwd: string, folder: string): Promise<string> {
  const env = {
    PATH: process.env.PATH ?? '',
    TMPDIR: join(folder, 'tmp'),
    HOME: folder,
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', command], { cwd, env }, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error ? `\n[exit: status ${error.code}]` : ''}`),
    );
  });
}

/** What a tool answers, and the picture it shows if any. */
export async function work(shop: Workshop, name: string, args: Json): Promise<{ text: string; picture?: string }> {
  const path = String(args.path ?? '').startsWith('/') ? args.path : join(shop.root, args.path ?? '.');
  try {
    if (name === 'shell') return { text: await sh(args.command, shop.root, dirname(shop.root)) };
    if (name === 'list') return { text: (await readdir(path)).join('\n') };
    if (name === 'read') return { text: numbered(await readFile(path, 'utf8')) };
    if (name === 'view') return { text: `${(await readFile(path)).length} bytes`, picture: args.path };
    if (name !== 'write') return { text: 'noted' };
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, args.startLine ? edited(await readFile(path, 'utf8'), args) : args.content);
    return { text: `updated ${args.path}` };
  } catch (error) {
    return { text: `error: ${(error as Error).message}` };
  }
}

const numbered = (text: string) =>
  text
    .split('\n')
    .map((line, n) => `${n + 1}\t${line}`)
    .join('\n');

function edited(text: string, { content, startLine, endLine }: Json): string {
  const lines = text.split('\n');
  return [...lines.slice(0, startLine - 1), ...content.split('\n'), ...lines.slice(endLine ?? startLine - 1)].join(
    '\n',
  );
}

export const kickoff = (text = 'Begin working on your task.') => ({ role: 'user', content: text });
export const SYSTEM = { role: 'system', content: 'You are an engineer.' };
export const TOOLS = [{ type: 'function', function: { name: 'shell', parameters: {} } }];

/** Asks for one turn, whole or streamed, and gives the assistant message. */
export async function ask(baseUrl: string, messages: Json[], tools: Json[] = TOOLS): Promise<Json> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'rehearsal', messages, tools }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as Json).choices[0].message;
}

export interface PlayOptions {
  messages?: Json[];
  /** Called before each turn with what is about to be sent. */
  before?(messages: Json[]): Promise<void> | void;
  /** Answers a call instead of the tool. */
  instead?(name: string, args: Json): { text: string } | undefined;
}

/** The minimal loop: ask, do, answer, until the model ends the run. */
export async function play(baseUrl: string, shop: Workshop, options: PlayOptions = {}): Promise<Played> {
  const messages = options.messages ? [...options.messages] : [SYSTEM, kickoff()];
  for (let turns = 1; turns <= 60; turns += 1) {
    await options.before?.(messages);
    const message = await ask(baseUrl, messages);
    messages.push(message);
    const pictures: string[] = [];
    for (const call of message.tool_calls ?? []) {
      const { name } = call.function;
      const args = JSON.parse(call.function.arguments);
      if (name === 'success' || name === 'failure') return { messages, end: { name, args }, turns };
      const answer: { text: string; picture?: string } =
        options.instead?.(name, args) ?? (await work(shop, name, args));
      messages.push({ role: 'tool', tool_call_id: call.id, content: answer.text });
      if (answer.picture) pictures.push(answer.picture);
    }
    if (pictures.length) messages.push({ role: 'user', content: pictures.flatMap(attachment) });
  }
  throw new Error('the shift did not end in 60 turns');
}

const attachment = (path: string) => [
  { type: 'text', text: path },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } },
];

/** Every call of a conversation, in order. */
export const callsOf = (messages: Json[]): { name: string; args: Json }[] =>
  messages
    .flatMap((message) => message.tool_calls ?? [])
    .map((call: Json) => ({
      name: call.function.name,
      args: JSON.parse(call.function.arguments),
    }));
