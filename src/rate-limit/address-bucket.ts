import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Shared by all clients without a known address, so that a forged header cannot open a bucket per request. */
const UNKNOWN_BUCKET = 'ip:unknown';

/** Returns the bucket of a client address: IPv6 by /64, IPv4-mapped IPv6 as IPv4. */
export function addressBucket(address: string): string {
  const [withoutZone = ''] = address.split('%', 1);
  // Stricter than ipaddr.js, which also reads forms such as `127.1`.
  if (isIP(withoutZone) === 0) return UNKNOWN_BUCKET;
  const parsed = ipaddr.process(withoutZone);
  if (parsed instanceof ipaddr.IPv4) return `ip:${parsed.toString()}`;
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `ip:${network.join(':')}::/64`;
}

/** Returns the bucket of a site: IPv6 by /48, of which it can use 65,536 networks; IPv4 by address. */
export function siteBucket(address: string): string {
  const bucket = addressBucket(address);
  const [, network] = /^ip:(.*)::\/64$/.exec(bucket) ?? [];
  return network === undefined ? bucket : `ip:${network.split(':').slice(0, 3).join(':')}::/48`;
}
