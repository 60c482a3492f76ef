import type { Literals } from '../session/literals.ts';
import type { SessionMessage } from '../session/types.ts';
import { Renderer } from './render.ts';
import type { Spool } from './spool.ts';

/** A stretch of a spool, in bytes. */
interface Stretch {
  from: number;
  to: number;
}

/** Where the last conversation and the superseded ones are, and what they count. */
export interface Written {
  messages: Stretch;
  snapshots: Stretch;
  counts: { messages: number; snapshots: number; calls: number };
}

/**
 * Writes conversations to a spool as JSON arrays with commas between them, oldest first: those that were superseded and,
 * last, the one a resume would replay. A conversation that renders to nothing leaves no trace.
 */
export class Conversations {
  readonly #spool: Spool;
  readonly #keep: boolean;
  readonly #renderer: Renderer;
  #end = 0;
  #messages = 0;
  #calls = 0;
  #superseded = 0;

  /**
   * @param keep whether superseded conversations stay in the spool.
   * @param before what is written before the first of them.
   */
  constructor(spool: Spool, keep: boolean, before = '') {
    this.#spool = spool;
    this.#keep = keep;
    this.#renderer = new Renderer((pieces, calls) => {
      if (this.#messages > 0) spool.push(',');
      else spool.push(this.#end === 0 ? `${before}[` : ',[');
      for (const piece of pieces) spool.push(piece);
      this.#messages += 1;
      this.#calls += calls;
    });
  }

  add(message: SessionMessage, images: string[], literals: Literals): void {
    this.#renderer.add(message, images, literals);
  }

  /** Ends the conversation as superseded: by a reset, or by the session that continued it. */
  async supersede(): Promise<void> {
    this.#renderer.close();
    if (this.#messages > 0 && this.#keep) {
      this.#spool.push(']');
      this.#end = await this.#spool.flush();
      this.#superseded += 1;
    } else if (this.#messages > 0) {
      await this.#spool.rewind(0);
    }
    this.#messages = 0;
    this.#calls = 0;
  }

  /** How many conversations were superseded and kept. */
  get superseded(): number {
    return this.#superseded;
  }

  /** Ends the last conversation. A stretch of no length holds none. */
  async finish(): Promise<Written> {
    this.#renderer.close();
    if (this.#messages > 0) this.#spool.push(']');
    const to = await this.#spool.flush();
    // The comma that parts it from the superseded ones is not its own.
    const from = this.#messages > 0 && this.#end > 0 ? this.#end + 1 : this.#end;
    return {
      messages: { from, to },
      snapshots: { from: 0, to: this.#end },
      counts: { messages: this.#messages, snapshots: this.#superseded, calls: this.#calls },
    };
  }
}
