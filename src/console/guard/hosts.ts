import { isIP } from 'node:net';
import type { Config } from '../../config/load.ts';

/** A host without its port and an IPv6 address's brackets, in lower case. */
function nameOf(host: string): string {
  const lower = host.trim().toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(lower);
  return bracketed ? (bracketed[1] as string) : lower.replace(/:\d+$/, '');
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/** Whether an address that a server binds to is reached from this machine only. */
export function isLoopback(host: string): boolean {
  const name = nameOf(host);
  return LOOPBACK.has(name) || /^127\.\d+\.\d+\.\d+$/.test(name);
}

/**
 * Whether the console answers to a `Host` header. A page of somebody else's can point its own name at our address (DNS
 * rebinding) and then be of one origin with us; it cannot choose what the browser sends as Host. A bare IP address is no
 * name that can be pointed elsewhere, so off loopback any is taken.
 */
export function hostCheck(console: Config['console']): (host: string | undefined) => boolean {
  const named = new Set(console.allowed_hosts.map(nameOf));
  if (console.public_url) named.add(nameOf(new URL(console.public_url).host));
  named.add(nameOf(console.host));
  const local = isLoopback(console.host);
  return (host) => {
    if (host === undefined || host === '') return false;
    const name = nameOf(host);
    if (named.has(name) || LOOPBACK.has(name)) return true;
    return !local && isIP(name) !== 0;
  };
}
