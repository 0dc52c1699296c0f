import { isIP } from 'node:net';
import { isLocalName, isLoopback } from '../config/origins.ts';
import type { Config } from '../config/config.ts';
import { isNotPublic, type Network } from '../outbound/network.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** Returns the networks that an endpoint can be in besides the public ones: none for an endpoint of a team. */
export const networkOf = (
  { webhookPrivateNetworks, isDevelopment }: Pick<Config, 'webhookPrivateNetworks' | 'isDevelopment'>,
  teamId: string | null,
): Network => ({
  allowedNetworks: [...(teamId === null ? webhookPrivateNetworks : []), ...(isDevelopment ? LOOPBACK : [])],
});

const NAME_LENGTH_MAX = 253;
const LABEL = /^[a-z\d_-]{1,63}$/;

/** Returns whether DNS can have a host of a parsed URL (RFC 1035, section 2.3.4). Browsers' URLs can have others, such as `a..b`. */
const isDnsName = (host: string): boolean => {
  const name = host.replace(/\.$/, '');
  return name.length <= NAME_LENGTH_MAX && name.split('.').every((label) => LABEL.test(label));
};

/**
 * Returns why a URL cannot be one of an endpoint, as far as can be said without a lookup; null if it can be one. Each
 * attempt checks the IP addresses.
 */
export function findUrlFault(text: string, network: Network): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return 'Enter a URL that starts with https://.';
  if (url.username !== '' || url.password !== '') return 'Remove the user and password from the URL.';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = isLocalName(host) ? '127.0.0.1' : host;
  if (isIP(address) !== 0 && isNotPublic(address, network)) return 'Use a public IP address or host name.';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'Enter a URL that starts with https://.';
  if (isIP(address) === 0 && !isDnsName(address)) return 'Enter a URL with a host name that DNS can have.';
  return null;
}
