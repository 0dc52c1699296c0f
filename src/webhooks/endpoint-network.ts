import { isIP } from 'node:net';
import { isLoopback } from '../config-values.ts';
import type { Config } from '../config.ts';
import { isNotPublic, type Network } from '../outbound/network.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** Returns the networks that an endpoint can be in besides the public ones: none for an endpoint of a team. */
export const networkOf = (
  { webhookPrivateNetworks, isDevelopment }: Pick<Config, 'webhookPrivateNetworks' | 'isDevelopment'>,
  teamId: string | null,
): Network => ({
  allowedNetworks: [...(teamId === null ? webhookPrivateNetworks : []), ...(isDevelopment ? LOOPBACK : [])],
});

/**
 * Returns why a URL cannot be one of an endpoint, as far as can be said without a lookup; null if it can be one. Each
 * attempt checks the IP addresses.
 */
export function findUrlFault(text: string, network: Network): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return 'Enter a URL that starts with https://.';
  if (url.username !== '' || url.password !== '') return 'Remove the user and password from the URL.';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = host === 'localhost' ? '127.0.0.1' : host;
  if (isIP(address) !== 0 && isNotPublic(address, network)) return 'Use a public IP address or host name.';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    return 'Enter a URL that starts with https://.';
  return null;
}
