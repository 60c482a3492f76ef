import { join } from 'node:path';
import { FactoryError } from '../support/errors.ts';
import { lock } from '../support/lock.ts';
import { cardOf } from './card.ts';
import { cardStanding, marked } from './card-mark.ts';
import type { Hub, Upload } from './hub.ts';
import { Outbox } from './outbox.ts';
import { parquetOf } from './parquet.ts';
import { Quarantine } from './quarantine.ts';
import { type Hit, scanRow } from './scan.ts';
import { DatasetStore } from './store.ts';
import { CARD, batches, send, standing } from './upload.ts';

export interface ShipOptions {
  /** The data folder. */
  data: string;
  /** `<owner>/<name>` of the hub dataset; null when there is none and rows stay here. */
  repo: string | null;
  endpoint?: string;
  token?: string;
  /** Values that must not leave. */
  secrets: readonly string[];
  log?: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** Whether the dataset is made private when it is created. */
  private?: boolean;
  /** Also ship a normalised copy of each row, and point the card's viewer at those. */
  normalised?: boolean;
  /** Look and tell, but send nothing and move nothing. */
  dryRun?: boolean;
}

/** What a row's folder came to. */
export interface Shipped {
  /** Rows the hub has now, whether they went this time or were there. */
  shipped: string[];
  /** Rows that wait in the outbox, oldest first. */
  waiting: string[];
  /** Rows that were held this time, by the first thing found in each. */
  quarantined: { id: string; rule: string; place: string }[];
  /** What became of a card that was there already, when anything did. One that was edited by hand is left as it is. */
  card?: 'refreshed' | 'edited';
  /** Why rows wait; the shift is not red for it. */
  trouble?: { code: string; message: string; mend: string };
}

/**
 * Sends the rows that wait, oldest first, several in a commit. Before a row may leave it is looked through for secrets; a
 * hit holds it in quarantine. A row the hub has already is done; one it has otherwise stays, and is told.
 */
export async function ship(options: ShipOptions): Promise<Shipped> {
  const shipment = new Shipment(options);
  // The shift's own shipment, a retry from the console and `machinery ship` may meet: one waits, and finds less to do.
  const held = options.dryRun ? null : await lock(join(options.data, 'outbox'), { wait: true });
  try {
    await shipment.look();
    await shipment.send();
    return shipment.result();
  } finally {
    await held?.release();
  }
}

class Shipment {
  readonly #options: ShipOptions;
  readonly #store: DatasetStore;
  readonly #outbox: Outbox;
  readonly #quarantine: Quarantine;
  readonly #clean = new Set<string>();
  readonly #shipped: string[] = [];
  readonly #held: { id: string; hits: Hit[] }[] = [];
  #waiting: string[] = [];
  #card: Shipped['card'];
  #cardLooked = false;
  #trouble: FactoryError | null = null;

  constructor(options: ShipOptions) {
    this.#options = options;
    this.#store = new DatasetStore(join(options.data, 'dataset'));
    this.#outbox = new Outbox(options.data);
    this.#quarantine = new Quarantine(options.data);
  }

  result(): Shipped {
    const trouble = this.#trouble;
    return {
      shipped: this.#shipped,
      waiting: this.#waiting,
      quarantined: this.#held.map(({ id, hits: [first] }) => ({
        id,
        rule: first?.rule ?? '',
        place: first?.place ?? '',
      })),
      ...(this.#card ? { card: this.#card } : {}),
      ...(trouble ? { trouble: { code: trouble.code, message: trouble.message, mend: trouble.mend } } : {}),
    };
  }

  /** Finds the rows that wait, and looks through those that nobody looked through yet: also where none can leave now. */
  async look(): Promise<void> {
    for (const id of await this.#outbox.ids()) {
      // A marker without a row: the row is being made, or was held, or an operator took it away.
      if (await this.#store.has(id)) this.#waiting.push(id);
      else if ((await this.#quarantine.has(id)) && !this.#options.dryRun) await this.#outbox.remove(id);
    }
    for (const id of [...this.#waiting]) if (!(await this.#outbox.scanned(id))) await this.#isClean(id);
  }

  /** Whether a row may leave, by the secrets known now; one that may not is held. */
  async #isClean(id: string): Promise<boolean> {
    if (this.#clean.has(id)) return true;
    const folder = this.#store.rowFolder(id);
    const hits = await scanRow(folder, id, this.#options.secrets);
    if (hits.length === 0) {
      this.#clean.add(id);
      if (!this.#options.dryRun) await this.#outbox.markScanned(id);
      return true;
    }
    this.#held.push({ id, hits });
    this.#waiting = this.#waiting.filter((other) => other !== id);
    this.#options.log?.warn({ row: id, hits }, 'a row holds what looks like a secret and is held in quarantine');
    if (this.#options.dryRun) return false;
    await this.#quarantine.hold(id, folder, hits);
    await this.#outbox.remove(id);
    return false;
  }

  /** Sends what waits, until the hub makes trouble. */
  async send(): Promise<void> {
    const { repo, endpoint, token } = this.#options;
    if (repo === null || this.#waiting.length === 0) return;
    try {
      const until = await this.#outbox.waitUntil();
      if (until) throw busyUntil(until);
      if (token === undefined) throw noToken(repo);
      const { Hub } = await import('./hub.ts'); // only factories that ship pay for the hub's client
      const hub = new Hub({ repo, endpoint, token });
      await this.#sendAll(hub).catch(async (error: unknown) => {
        if (hub.retryAfterMs > 0) await this.#outbox.wait(new Date(Date.now() + hub.retryAfterMs));
        throw error;
      });
    } catch (error) {
      if (!(error instanceof FactoryError) || !/^(hub|row)\//.test(error.code)) throw error;
      this.#trouble = error;
      this.#options.log?.warn({ code: error.code }, error.message);
    }
  }

  async #sendAll(hub: Hub): Promise<void> {
    for (const batch of await batches(this.#store, this.#waiting)) {
      const { exists, hasCard, same, different, missing } = await standing(hub, batch);
      for (const id of different) this.#trouble ??= differs(id);
      const clean: typeof missing = [];
      for (const row of missing) if (await this.#isClean(row.id)) clean.push(row);
      if (this.#options.dryRun) continue;
      await this.#done(same);
      if (clean.length === 0) continue;
      if (!exists) await hub.create(this.#options.private ?? false);
      const ids = clean.map(({ id }) => id);
      const copies = this.#options.normalised ? await this.#copies(ids) : [];
      const card = await this.#cardFor(hub, hasCard);
      const commit = await send(hub, clean, [...copies, ...card]);
      if (hasCard && card.length > 0) this.#card = 'refreshed';
      this.#options.log?.info({ rows: ids, commit }, 'rows shipped');
      await this.#done(ids);
    }
  }

  /** The card, when the hub has none, or has one of ours that says something else since a day or more. */
  async #cardFor(hub: Hub, hasCard: boolean): Promise<Upload[]> {
    if (this.#cardLooked && hasCard) return [];
    this.#cardLooked = true;
    const text = await cardOf(this.#store, { normalised: this.#options.normalised ?? false });
    if (hasCard) {
      // A card that cannot be had keeps no row from going.
      const there = await hub.text(CARD).catch(() => null);
      const standing = there === null ? 'recent' : cardStanding(there, text);
      if (standing === 'edited') {
        this.#card = 'edited';
        this.#options.log?.info({}, 'the card on the hub was edited by hand: it is left as it is');
      }
      if (standing !== 'due') return [];
    }
    return [{ path: CARD, content: marked(text) }];
  }

  /** The rows' normalised copies, by month: a folder of the hub works best with fewer than 10,000 files. */
  async #copies(ids: string[]): Promise<Upload[]> {
    const copies: Upload[] = [];
    for (const id of ids) {
      const path = `normalised/${id.slice(0, 4)}-${id.slice(4, 6)}/${id}.parquet`;
      copies.push({ path, content: await parquetOf([this.#store.rowPath(id)]) });
    }
    return copies;
  }

  async #done(ids: string[]): Promise<void> {
    for (const id of ids) await this.#outbox.remove(id);
    this.#shipped.push(...ids);
    this.#waiting = this.#waiting.filter((id) => !ids.includes(id));
  }
}

function noToken(repo: string): FactoryError {
  return new FactoryError('hub/denied', {
    message: `no token is set to ship to ${repo} with`,
    mend: 'Set HF_TOKEN (or HF_TOKEN_FILE) to a token that may write to the dataset. The rows wait in the outbox.',
  });
}

function busyUntil(until: Date): FactoryError {
  return new FactoryError('hub/busy', {
    message: `the hub asked to be left alone until ${until.toISOString()}`,
    mend: 'Nothing to do: the rows wait in the outbox and go with a later shift.',
  });
}

function differs(id: string): FactoryError {
  return new FactoryError('row/different', {
    message: `the hub has a row ${id} that says something else; both are kept`,
    mend: `Compare trajectories/${id} on the hub with the local row; remove the wrong one by hand.`,
    data: { id },
  });
}
