import { isIP } from 'node:net';
import { readBy, splitList } from './values.ts';

/** Trusted proxies in the format of Express: a number of hops, `true` for one, or IP addresses and networks. */
export const trustedProxies = () =>
  readBy((text): boolean | number | string => {
    if (text === 'false' || text === 'off') return false;
    if (text === 'true') return true;
    if (/^\d{1,2}$/.test(text)) return Number(text);
    const invalid = splitList(text).find((part) => !isNetwork(part));
    if (invalid !== undefined || splitList(text).length === 0)
      throw new Error(
        `must be a number of hops, true, or IP addresses and networks, not ${JSON.stringify(invalid ?? text)}`,
      );
    return text;
  });

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** IP addresses and networks in CIDR notation. */
export const networks = () =>
  readBy((text): readonly string[] => {
    const list = splitList(text);
    const invalid = list.find((part) => !isNetwork(part) || isIP(part.split('/')[0] ?? '') === 0);
    if (invalid !== undefined) throw new Error(`must be IP addresses and networks, not ${JSON.stringify(invalid)}`);
    return list;
  });
