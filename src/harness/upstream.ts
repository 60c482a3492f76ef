/** The provider as the relay reaches it: the one place where its key is. */
export interface Upstream {
  /** The provider's name: the log's and so the row's. */
  provider: string;
  model: string;
  /** Up to and including `/v1`; empty for the rehearsal, which is started with the shift. */
  baseUrl: string;
  /** Sent as a bearer token; absent for a local provider. */
  key?: string;
  /** Sent with every request: how a gateway learns which program is calling. */
  headers?: Record<string, string>;
}
