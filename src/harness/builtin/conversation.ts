import type { SessionImage, SessionMessage } from '../../session/types.ts';
import { imageBytes } from '../../session/read.ts';
import type { SessionLog } from '../../session/write.ts';

/** Base64 characters of images held in memory; the rest is read again when it is needed. 64 MiB. */
const HELD = 64 * 1024 * 1024;

/**
 * The conversation: the agent's whole state. What is added during a round is written to the log at the round's end, so a
 * killed run leaves a log that ends with a whole round.
 */
export class Conversation {
  #messages: SessionMessage[] = [];
  #written = 0;
  readonly #log: SessionLog;
  readonly #dir: string;
  readonly #held = new Map<string, string>();
  #heldLength = 0;

  /** @param dir the folder the log is in. */
  constructor(log: SessionLog, dir: string) {
    this.#log = log;
    this.#dir = dir;
  }

  get messages(): readonly SessionMessage[] {
    return this.#messages;
  }

  add(...messages: SessionMessage[]): void {
    this.#messages.push(...messages);
  }

  /** Adds what the factory, not the model, has to say. */
  note(text: string): void {
    this.add({ type: 'user', text });
  }

  /** Writes what was added since the last flush. */
  async flush(): Promise<void> {
    while (this.#written < this.#messages.length) {
      await this.#log.message(this.#messages[this.#written] as SessionMessage);
      this.#written += 1;
    }
  }

  /** Puts a shorter conversation in this one's place, in the log too. */
  async replace(messages: SessionMessage[]): Promise<void> {
    await this.flush();
    this.#messages = [...messages];
    this.#written = this.#messages.length;
    // Not awaited one by one: the lines leave together, so that a kill finds little time between the first and the last.
    await Promise.all([this.#log.reset(), ...this.#messages.map((message) => this.#log.message(message))]);
  }

  /** An image's bytes as base64, from the log's blobs; null when they are lost. */
  async image(image: SessionImage): Promise<string | null> {
    const held = this.#held.get(image.digest);
    if (held !== undefined) return held;
    const data = (await imageBytes(this.#dir, this.#log.id, image))?.toString('base64') ?? null;
    if (data === null) return null;
    if (this.#heldLength + data.length > HELD) {
      this.#held.clear();
      this.#heldLength = 0;
    }
    this.#held.set(image.digest, data);
    this.#heldLength += data.length;
    return data;
  }
}
