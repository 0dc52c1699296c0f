import { isIP } from 'node:net';

/** The bucket of a client address: IPv6 by /64, IPv4-mapped IPv6 as IPv4. */
export function addressBucket(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const family = isIP(plain);
  if (family === 4) return `ip:${plain}`;
  // One bucket for whatever is not an address, so that a forged header cannot open one per request.
  if (family === 0) return 'ip:unknown';

  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = ipv6Groups(plain);
  const isMapped = f === 0xffff && a + b + c + d + e === 0;
  if (isMapped) return `ip:${g >> 8}.${g & 255}.${h >> 8}.${h & 255}`;
  return `ip:${[a, b, c, d].map((group) => group.toString(16)).join(':')}::/64`;
}

function ipv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const left = groupNumbers(head);
  if (tail === undefined) return left;
  const right = groupNumbers(tail);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function groupNumbers(part: string): number[] {
  return part.split(':').flatMap((group) => {
    if (group === '') return [];
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
