import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { SECOND_MS } from '../time.ts';

/** The addresses of names in lower case. */
type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

const HOSTS_FILE = '/etc/hosts';
const KEPT_MS = 5 * SECOND_MS;

const files = new Map<string, { readonly at: number; readonly hosts: Promise<Hosts> }>();

/** Reads the hosts file, which containers and their operators use for names of their own. A change counts within 5 s. */
export function readHosts(file = HOSTS_FILE): Promise<Hosts> {
  const known = files.get(file);
  if (known !== undefined && performance.now() - known.at < KEPT_MS) return known.hosts;
  const hosts = readFile(file, 'utf8').then(parseHosts, () => new Map());
  files.set(file, { at: performance.now(), hosts });
  return hosts;
}

function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}
