import { NODATA, NOTFOUND, type LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isLocalName } from '../config/origins.ts';
import { SECOND_MS } from '../time.ts';
import { readHosts } from './hosts.ts';

/** The limit for all questions about a name. */
export const RESOLVE_MS = 5 * SECOND_MS;
/** How long to wait for addresses of the other version once there are some (RFC 8305, section 3). */
const OTHER_VERSION_MS = 50;
/** The wait for the first server, which doubles with each try. */
const SERVER_MS = 1500;
const TRIES = 2;

/** Where names are looked up, instead of as this machine is configured. For tests. */
export type NameSources = {
  /** Addresses of DNS servers, with ports. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
};

const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves a host name by the hosts file, or else by DNS. Not by `getaddrinfo`: that blocks one of the four threads of
 * the process for as long as a DNS server does not answer, and the look-ups of the database and the mail server wait
 * for a free one. `localhost` is this machine (RFC 6761, section 6.3). Search domains are not tried.
 * @throws an error with one line if there is no address
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  { servers, hostsFile }: NameSources = {},
): Promise<readonly LookupAddress[]> {
  const host = name.toLowerCase().replace(/\.$/, '');
  const listed = (await readHosts(hostsFile)).get(host);
  if (listed !== undefined) return listed;
  if (isLocalName(host)) return LOCALHOST;
  signal.throwIfAborted();
  // One for each name: cancelling it cancels nothing else, and it reads the present list of servers.
  const resolver = new Resolver({ timeout: SERVER_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  let isLate = false;
  const cancel = () => resolver.cancel();
  const timer = setTimeout(() => {
    isLate = true;
    cancel();
  }, RESOLVE_MS);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await resolveBoth(resolver, name);
  } catch (error) {
    throw isLate ? new Error(`${name} was not resolved within ${RESOLVE_MS} ms.`, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Asks for both versions at once. If one has addresses, the other one is hardly waited for. */
async function resolveBoth(resolver: Resolver, name: string): Promise<readonly LookupAddress[]> {
  const found: LookupAddress[][] = [[], []];
  const errors: unknown[] = [];
  const ask = async (addresses: Promise<string[]>, family: 4 | 6) => {
    try {
      found[family === 4 ? 0 : 1] = (await addresses).map((address) => ({ address, family }));
    } catch (error) {
      errors.push(error);
    }
  };
  const both = [ask(resolver.resolve4(name), 4), ask(resolver.resolve6(name), 6)];
  await Promise.race(both);
  if (found.flat().length > 0) {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([Promise.all(both), new Promise((resolve) => (timer = setTimeout(resolve, OTHER_VERSION_MS)))]);
    clearTimeout(timer);
  } else await Promise.all(both);
  const addresses = found.flat();
  if (addresses.length > 0) return addresses;
  throw errors.find((error) => !isEmptyAnswer(error)) ?? errors[0];
}

/** Whether the name has no address, or no address of one version. */
export const isEmptyAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === NODATA || error.code === NOTFOUND);
