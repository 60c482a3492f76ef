import { createHash } from 'node:crypto';
import type { SessionMessage } from '../../session/types.ts';
import type { AgentConfig } from './config.ts';
import { Stop } from './ending.ts';
import type { Turn } from './model.ts';

/** How often the same round in a row is a repetition; also for a pattern of up to four rounds. */
const SAME_ROUNDS = 3;
const LONGEST_PATTERN = 4;

const SAYS = {
  settle:
    'Notice: the run goes on until you record how it ended. Call success when the task is met, or failure when it cannot ' +
    'be; otherwise take the next step with a tool.',
  empty: 'Notice: your last turn held nothing. Take the next step with a tool, or call success or failure.',
  cut:
    'Notice: your last answer was cut off at the output limit, and no call in it was made. Go on in smaller pieces: write ' +
    'a long file in parts, the first one whole and the next ones with startLine past the end.',
  cycle:
    'Notice: you made the same calls with the same results several times. Doing it again will not change them: try ' +
    'something else, or say what is in the way with failure.',
};

/** What a guard has to say after a round: words for the model, and one line for the log. */
export interface Nudge {
  text: string;
  event: string;
}

/** Notices what the model cannot see of itself, says so a few times, then ends the run. */
export class Guards {
  /** Attempts at a whole answer beyond the first: failures and cut-off answers, in the whole run. */
  continuations = 0;
  /** Warnings in a row. */
  cycles = 0;
  settles = 0;
  #inARow = 0;
  #empties = 0;
  #rounds: string[] = [];
  readonly #most: AgentConfig['guards'];

  constructor(most: AgentConfig['guards']) {
    this.#most = most;
  }

  /** How many attempts in a row there were since the last whole answer. */
  get inARow(): number {
    return this.#inARow;
  }

  /** Spends one more attempt to get a whole answer. @returns false when there is none left. */
  again(): boolean {
    if (this.#inARow >= this.#most.retries || this.continuations >= this.#most.allRetries) return false;
    this.#inARow += 1;
    this.continuations += 1;
    return true;
  }

  /**
   * Judges a round by what the model answered and the calls and results that came of it.
   * @throws Stop when words have not helped: `continuations`, `empty`, `unsettled` or `cycle`.
   */
  judge(turn: Turn, made: readonly SessionMessage[]): Nudge | null {
    if (turn.cut) return this.#cut();
    this.#inARow = 0;
    const empty = turn.calls.length === 0 && turn.text === '' && turn.reasoning === '';
    if (!empty) this.#empties = 0;
    if (empty) return this.#empty();
    return turn.calls.length === 0 ? this.#unsettled() : this.#repeated(made);
  }

  #cut(): Nudge {
    if (!this.again()) throw new Stop({ reason: 'continuations', message: 'the answers kept being cut off' });
    return { text: SAYS.cut, event: `answer cut off at the output limit (${this.#inARow}/${this.#most.retries})` };
  }

  #empty(): Nudge {
    if (this.#empties >= this.#most.empties) throw new Stop({ reason: 'empty', message: 'the model answered nothing' });
    this.#empties += 1;
    return { text: SAYS.empty, event: `empty turn (${this.#empties}/${this.#most.empties})` };
  }

  #unsettled(): Nudge {
    if (this.settles >= this.#most.settles) {
      throw new Stop({ reason: 'unsettled', message: 'the model stopped without saying how it ended' });
    }
    this.settles += 1;
    return { text: SAYS.settle, event: `no call and no verdict (${this.settles}/${this.#most.settles})` };
  }

  #repeated(made: readonly SessionMessage[]): Nudge | null {
    // Ids differ from call to call, so the round is what was asked and what came of it.
    const told = made.flatMap(({ activity: a }) => (a ? [[a.kind, a.name, a.arguments, a.result, a.failure]] : []));
    this.#rounds.push(createHash('sha256').update(JSON.stringify(told)).digest('hex'));
    this.#rounds = this.#rounds.slice(-SAME_ROUNDS * LONGEST_PATTERN);
    if (!repeats(this.#rounds)) {
      this.cycles = 0;
      return null;
    }
    if (this.cycles >= this.#most.cycles)
      throw new Stop({ reason: 'cycle', message: 'the model kept repeating itself' });
    this.cycles += 1;
    return { text: SAYS.cycle, event: `the same calls with the same results (${this.cycles}/${this.#most.cycles})` };
  }
}

/** Whether a list ends in a pattern of one to four items, three times over. */
export function repeats(rounds: readonly string[]): boolean {
  for (let length = 1; length <= LONGEST_PATTERN; length += 1) {
    const tail = rounds.slice(-length * SAME_ROUNDS);
    if (tail.length < length * SAME_ROUNDS) return false;
    if (tail.every((round, index) => round === tail[index % length])) return true;
  }
  return false;
}
