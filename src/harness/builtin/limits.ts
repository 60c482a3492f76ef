import type { AgentConfig } from './config.ts';
import { Stop } from './ending.ts';

/** The parts of a limit at which the model is told, so that it can finish before it is cut off. */
const TOLD_AT = [50, 80, 90];

interface Limit {
  /** What the model is told is running out. */
  name: string;
  used: () => number;
  most: number | undefined;
  show: (amount: number) => string;
  reason: string;
}

const ADVICE: Record<number, string> = {
  50: 'Half of it is left: pace yourself so that the task is done before.',
  80: 'Do what matters most first, and start nothing new.',
  90: 'Finish now with what you have: make the work whole, check it, and settle.',
};

/** Counts what a run spends, tells when a limit is near, and ends the run at it. */
export class Limits {
  iterations = 0;
  calls = 0;
  inputTokens = 0;
  outputTokens = 0;
  dollars = 0;
  readonly #limits: Limit[];
  readonly #told = new Map<string, number>();

  /** @param clock milliseconds; replaced in tests. */
  constructor(given: AgentConfig['limits'], clock: () => number = () => performance.now()) {
    const started = clock();
    const plain = (unit: string) => (amount: number) => `${amount} ${unit}`;
    this.#limits = [
      {
        name: 'time',
        reason: 'time',
        used: () => clock() - started,
        most: given.timeMs,
        show: (amount) => `${Math.round(amount / 6000) / 10} min`,
      },
      {
        name: 'turns',
        reason: 'iterations',
        used: () => this.iterations,
        most: given.iterations,
        show: plain('turns'),
      },
      { name: 'tool calls', reason: 'calls', used: () => this.calls, most: given.calls, show: plain('tool calls') },
      {
        // No reason of its own in the log's vocabulary: like a spent cap at the provider, it is an error.
        name: 'tokens',
        reason: 'error',
        used: () => this.inputTokens + this.outputTokens,
        most: given.tokens,
        show: plain('tokens'),
      },
      {
        name: 'dollars',
        reason: 'error',
        used: () => this.dollars,
        most: given.dollars,
        show: (amount) => `$${amount.toFixed(2)}`,
      },
    ];
  }

  /** @throws Stop when a limit is reached. */
  check(): void {
    for (const { reason, name, used, most, show } of this.#limits) {
      if (most === undefined || used() < most) continue;
      const message = `the limit of ${show(most)} is reached`;
      throw new Stop(reason === 'error' ? { reason, message, error: `${message} (${name})` } : { reason, message });
    }
  }

  /** What to tell the model now, each mark once; of several marks passed at once the last only. */
  notices(): string[] {
    const notices: string[] = [];
    for (const { name, used, most, show } of this.#limits) {
      if (most === undefined) continue;
      const passed = TOLD_AT.filter((part) => used() * 100 >= most * part).at(-1);
      if (passed === undefined || passed <= (this.#told.get(name) ?? 0)) continue;
      this.#told.set(name, passed);
      notices.push(
        `Notice: ${passed} % of the ${name} for this run is used (${show(used())} of ${show(most)}). The run ends at the ` +
          `limit, finished or not. ${ADVICE[passed]}`,
      );
    }
    return notices;
  }
}
