import { pathToFileURL } from 'node:url';
import {
  type CommitOperation,
  HubApiError,
  commit,
  createRepo,
  downloadFile,
  listFiles,
  pathsInfo,
} from '@huggingface/hub';
import { FactoryError } from '../support/errors.ts';
import type { RemoteFile } from './row-files.ts';

export interface HubOptions {
  /** `<owner>/<name>`. */
  repo: string;
  /** The hub's address; huggingface.co unless given. */
  endpoint?: string | undefined;
  token?: string | undefined;
}

/** Far more than a dataset of one factory has in ten years: a list without an end is not read to its end. */
const MOST_FILES = 2_000_000;

/** How many paths are asked for in one request. */
const PATHS = 100;

/** A file to upload: from the disk, or made here. */
export type Upload = { path: string; local: string } | { path: string; content: string | Uint8Array<ArrayBuffer> };

/** A dataset on the hub, through its own client. What goes wrong is told as a FactoryError without addresses or tokens. */
export class Hub {
  /** How long the hub asked to be left alone when it last refused, in milliseconds. */
  retryAfterMs = 0;
  readonly #repo: { type: 'dataset'; name: string };
  readonly #origin: string;
  readonly #common: { hubUrl?: string; accessToken?: string; fetch: typeof fetch };

  constructor({ repo, endpoint, token }: HubOptions) {
    if (token !== undefined && !token.startsWith('hf_')) {
      throw new FactoryError('hub/denied', {
        message: token
          ? 'HF_TOKEN is not a hub token: those start with hf_'
          : `no token is set to ship to ${repo} with`,
        mend: 'Set HF_TOKEN (or HF_TOKEN_FILE) to a token that may write to the dataset. The rows wait in the outbox.',
      });
    }
    this.#repo = { type: 'dataset', name: repo };
    const hubUrl = endpoint === undefined ? {} : { hubUrl: endpoint.replace(/\/+$/, '') };
    const accessToken = token === undefined ? {} : { accessToken: token };
    this.#origin = new URL(endpoint ?? 'https://huggingface.co').origin;
    this.#common = { ...hubUrl, ...accessToken, fetch: (input, init) => this.#fetch(input, init) };
  }

  /** What the hub has at these paths; null when it has no such dataset. */
  async have(paths: string[]): Promise<Map<string, RemoteFile> | null> {
    const have = new Map<string, RemoteFile>();
    for (let from = 0; from < paths.length; from += PATHS) {
      const infos = await this.#told('was asked what it has', () =>
        pathsInfo({ repo: this.#repo, paths: paths.slice(from, from + PATHS), ...this.#common }),
      ).catch((error: FactoryError) => {
        if (error.data.status === 404) return null;
        throw error;
      });
      if (infos === null) return null;
      for (const { path, type, size, oid, lfs } of infos) {
        if (type !== 'file') continue;
        have.set(path, { size: lfs?.size ?? size, ...(lfs ? { sha256: lfs.oid } : oid ? { blob: oid } : {}) });
      }
    }
    return have;
  }

  /** Makes the dataset. One that is there already is as good. */
  async create(isPrivate: boolean): Promise<void> {
    const visibility = isPrivate ? 'private' : 'public';
    await this.#told('was asked to make the dataset', () =>
      createRepo({ repo: this.#repo, visibility, ...this.#common, accessToken: this.#common.accessToken ?? '' }),
    ).catch((error: FactoryError) => {
      if (error.data.status !== 409) throw error;
    });
  }

  /** Uploads files in one commit: all of them are there afterwards, or none. @returns the commit's id. */
  async commit(title: string, files: Upload[]): Promise<string> {
    const operations = files.map(
      (file): CommitOperation => ({
        operation: 'addOrUpdate',
        path: file.path,
        content: 'local' in file ? pathToFileURL(file.local) : new Blob([file.content]),
      }),
    );
    const done = await this.#told('was sent an upload', () =>
      // Plain LFS uploads: one protocol for every hub, and the hub still names a file by its sha256.
      commit({ repo: this.#repo, title, operations, useXet: false, ...this.#common }),
    );
    return done?.commit.oid ?? '';
  }

  /** Every file of the dataset. */
  async list(): Promise<{ path: string; bytes: number }[]> {
    return this.#told('was asked for its files', async () => {
      const files: { path: string; bytes: number }[] = [];
      for await (const { type, path, size } of listFiles({ repo: this.#repo, recursive: true, ...this.#common })) {
        if (type === 'file') files.push({ path, bytes: size });
        if (files.length > MOST_FILES) throw new Error('there is no end to its files');
      }
      return files;
    });
  }

  /** A file's bytes as a stream. */
  async read(path: string): Promise<ReadableStream> {
    return this.#told('was asked for a file', async () => {
      const blob = await downloadFile({ repo: this.#repo, path, xet: false, ...this.#common });
      if (!blob) throw new Error(`${path} is gone`);
      return blob.stream();
    });
  }

  /** A short text file; null when there is none, or it is longer than a megabyte. */
  async text(path: string): Promise<string | null> {
    return this.#told('was asked for a file', async () => {
      const blob = await downloadFile({ repo: this.#repo, path, xet: false, ...this.#common });
      return blob && blob.size <= 1_000_000 ? blob.text() : null;
    });
  }

  async #fetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const response = await fetch(input, this.#withoutToken(input, init));
    const after = response.ok ? null : response.headers.get('Retry-After');
    if (after !== null) this.retryAfterMs = afterMs(after);
    return response;
  }

  /** The hub's answers name addresses: of a next page, of an upload. The token goes to the hub's own origin only. */
  #withoutToken(input: Parameters<typeof fetch>[0], init: RequestInit = {}): RequestInit {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : {}));
    const token = this.#common.accessToken;
    if (url.origin === this.#origin || token === undefined) return init;
    for (const [name, value] of [...headers]) if (value.includes(token)) headers.delete(name);
    return { ...init, headers };
  }

  async #told<T>(what: string, act: () => Promise<T>): Promise<T> {
    this.retryAfterMs = 0;
    try {
      return await act();
    } catch (error) {
      throw this.#trouble(what, error);
    }
  }

  /** The client's own messages hold addresses, some of them signed; only the status and the hub's own word are told. */
  #trouble(what: string, error: unknown): FactoryError {
    const name = this.#repo.name;
    if (!(error instanceof HubApiError)) {
      const cause = (error as { cause?: { code?: string } }).cause?.code;
      return new FactoryError('hub/unreachable', {
        message: `the hub could not be reached, or was cut off, when it ${what}${cause ? ` (${cause})` : ''}`,
        mend: 'Nothing to do if it comes back: the rows wait in the outbox and go with a later shift.',
      });
    }
    const { statusCode: status, data } = error;
    const said = typeof data?.error === 'string' ? `: ${data.error.slice(0, 200)}` : '';
    const told = { message: `the hub answered ${status} when it ${what}${said}`, data: { status } };
    if (status === 401 || status === 403) {
      const mend = `Give HF_TOKEN a token that may write to ${name}; the rows wait in the outbox.`;
      return new FactoryError('hub/denied', { ...told, mend });
    }
    if (status === 409 || status === 412 || status === 429 || status >= 500) {
      const mend = 'Nothing to do: the rows wait in the outbox and go with a later shift.';
      return new FactoryError('hub/busy', { ...told, mend });
    }
    const mend = `Check dataset.hub.repo (${name}) and dataset.hub.endpoint; the rows wait in the outbox.`;
    return new FactoryError('hub/refused', { ...told, mend });
  }
}

/** `Retry-After` is seconds or a date; at most a day is believed. */
function afterMs(header: string): number {
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), 86_400_000) : 0;
}
