import type { Meter, Usage } from './meter.ts';

/** Where a run must end. Absent: no limit. */
export interface Caps {
  /** Tokens, in and out together. */
  tokens?: number;
  dollars?: number;
}

/** What a run has used. */
export interface Totals {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  /** null when the provider never told a cost. */
  dollars: number | null;
  /** How many requests are counted by an estimate, because the provider told no usage. */
  estimated: number;
}

/** Adds up what a run uses and knows when it is over a cap, with what is on its way counted in. */
export class Ledger {
  readonly #caps: Caps;
  readonly #totals: Totals = { requests: 0, inputTokens: 0, outputTokens: 0, dollars: null, estimated: 0 };
  readonly #open = new Set<Meter>();

  constructor(caps: Caps) {
    this.#caps = caps;
  }

  /** An answer begins. */
  begin(meter: Meter): void {
    this.#open.add(meter);
  }

  /** An exchange is over, however it ended; `input` guesses its input where the provider told no usage. */
  settle(meter: Meter | null, input: () => number): Usage {
    if (meter) this.#open.delete(meter);
    const totals = this.#totals;
    totals.requests += 1;
    const estimated = meter !== null && meter.usage === null;
    const usage = meter?.usage ?? {
      inputTokens: estimated ? input() : 0,
      outputTokens: meter?.estimate ?? 0,
      dollars: null,
    };
    if (estimated) totals.estimated += 1;
    totals.inputTokens += usage.inputTokens;
    totals.outputTokens += usage.outputTokens;
    if (usage.dollars !== null) totals.dollars = (totals.dollars ?? 0) + usage.dollars;
    return usage;
  }

  totals(): Totals {
    return { ...this.#totals };
  }

  /** The cap that is reached, or null. */
  cap(): 'tokens' | 'dollars' | null {
    let tokens = this.#totals.inputTokens + this.#totals.outputTokens;
    let dollars = this.#totals.dollars ?? 0;
    for (const { usage, estimate } of this.#open) {
      tokens += usage ? usage.inputTokens + usage.outputTokens : estimate;
      dollars += usage?.dollars ?? 0;
    }
    if (this.#caps.tokens !== undefined && tokens >= this.#caps.tokens) return 'tokens';
    if (this.#caps.dollars !== undefined && dollars >= this.#caps.dollars) return 'dollars';
    return null;
  }
}
