import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentConfigSchema } from '../../src/harness/builtin/config.ts';
import { runAgent } from '../../src/harness/builtin/run.ts';
import { readLines } from '../../src/session/read.ts';
import type { SessionActivity, SessionEvent, SessionLine, SessionMessage } from '../../src/session/types.ts';
import { type ChatRequest, type Script, type ScriptedProvider, startProvider } from './provider.ts';

export const TOKEN = 'shift-token-0123456789';

/** What one run left: the result that came back, and everything in its log. */
export interface Ran {
  result: Awaited<ReturnType<typeof runAgent>>;
  provider: ScriptedProvider;
  lines: SessionLine[];
  messages: SessionMessage[];
  events: SessionEvent[];
  /** Tool results and failures, in order. */
  answers: SessionActivity[];
  told: string[];
  /** The body of the n-th request, 1 being the first. */
  sent(n: number): ChatRequest['body'];
}

export interface RunMore {
  model?: object;
  limits?: object;
  guards?: object;
  resume?: string;
  findings?: string;
  stop?: AbortSignal;
}

/** A temporary folder with a checkout, an order and a session folder, and a way to run the real loop in it. */
export class Bench {
  readonly root: string;
  readonly checkout: string;
  readonly sessions: string;
  readonly order: string;
  /** The agent's TMPDIR while the bench stands; nothing else of the root may be written by it. */
  readonly temp: string;
  readonly #outerTemp = process.env.TMPDIR;
  readonly #providers: ScriptedProvider[] = [];

  private constructor(root: string) {
    this.root = root;
    this.checkout = join(root, 'checkout');
    this.sessions = join(root, 'sessions');
    this.order = join(root, 'order.yaml');
    this.temp = join(root, 'tmp');
  }

  static async make(): Promise<Bench> {
    const bench = new Bench(await realpath(await mkdtemp(join(tmpdir(), 'machinery-agent-'))));
    await mkdir(bench.checkout);
    await mkdir(bench.temp);
    process.env.TMPDIR = bench.temp;
    await writeFile(join(bench.checkout, 'AGENTS.md'), 'Contract: paint nothing red.\n');
    await writeFile(bench.order, 'objective: Build a tide table.\nacceptance: [It ticks.]\n');
    return bench;
  }

  /** Starts a scripted provider that the bench closes. */
  async provider(script: Script): Promise<ScriptedProvider> {
    const provider = await startProvider(script, { token: TOKEN });
    this.#providers.push(provider);
    return provider;
  }

  /** The configuration of a run against a provider, with short waits. */
  config(baseUrl: string, more: RunMore = {}) {
    return agentConfigSchema.parse({
      model: { provider: 'scripted', model: 'eyes-1', baseUrl, token: TOKEN, vision: true, ...more.model },
      limits: { ...more.limits },
      guards: { retryBaseMs: 1, ...more.guards },
    });
  }

  /** Runs the agent against a script. */
  async run(script: Script, more: RunMore = {}): Promise<Ran> {
    const provider = await this.provider(script);
    const told: string[] = [];
    const result = await runAgent(
      {
        checkout: this.checkout,
        sessions: this.sessions,
        config: this.config(provider.baseUrl, more),
        ...(more.resume === undefined ? { order: this.order } : { resume: more.resume }),
        ...(more.findings === undefined ? {} : { findings: more.findings }),
      },
      (line) => told.push(line),
      more.stop,
    );
    const sent = (n: number) => provider.requests[n - 1]?.body;
    return { result, provider, told, sent, ...(await this.log(result.session)) };
  }

  /** Everything a session's log holds. */
  async log(id: string): Promise<Pick<Ran, 'lines' | 'messages' | 'events' | 'answers'>> {
    const lines: SessionLine[] = [];
    for await (const line of readLines(join(this.sessions, `${id}.jsonl`))) lines.push(line);
    const messages = lines.flatMap((line) => (line.kind === 'message' ? [line.message] : []));
    const events = lines.flatMap((line) => (line.kind === 'event' ? [line.event] : []));
    const answers = messages.flatMap(({ activity }) => (activity?.kind === 'response' ? [activity] : []));
    return { lines, messages, events, answers };
  }

  file(path: string): Promise<string> {
    return readFile(join(this.checkout, path), 'utf8');
  }

  async put(path: string, content: string | Uint8Array): Promise<string> {
    const place = join(this.checkout, path);
    await writeFile(place, content);
    return place;
  }

  async remove(): Promise<void> {
    if (this.#outerTemp === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = this.#outerTemp;
    for (const provider of this.#providers) await provider.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
