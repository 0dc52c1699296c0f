import { BlockList, isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { NameSources } from './resolve.ts';

/** Where outbound requests can connect to, and overrides for tests. */
export type Network = {
  /** IP addresses and networks to connect to although they are not public. */
  readonly allowedNetworks: readonly string[];
  /** Replaces the look-up of names. */
  readonly lookup?: LookupFunction;
  readonly names?: NameSources;
  /** Certificate authorities to trust instead of the default ones, as PEM. */
  readonly ca?: string;
};

export const PUBLIC_NETWORK: Network = { allowedNetworks: [] };

/**
 * Creates the error that users see, also of a name without an address: otherwise they could find out which internal
 * names there are.
 */
export const createForbiddenError = (): Error =>
  new Error('This host does not exist, or a connection to it is not allowed.');

/** Returns whether an IP address is in one of the allowed networks. A zone, which selects an interface, never is. */
export function isAllowed(address: string, { allowedNetworks }: Network): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  return toBlockList(allowedNetworks).check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

// The global unicast range of IPv6 (RFC 4291, section 2.4).
const IPV6_PUBLIC = new BlockList();
IPV6_PUBLIC.addSubnet('2000::', 3, 'ipv6');

// The address in the public range at which Azure offers virtual machines the services of their host.
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an IP address is neither public nor in one of the allowed networks. The library knows the registered
 * special ranges, but not IPv4 embedded in ::/96, unassigned IPv6 and zones, which select a network interface.
 */
export function isNotPublic(address: string, network: Network): boolean {
  if (isAllowed(address, network)) return false;
  if (address.includes('%') || address === AZURE_HOST) return true;
  return (isIP(address) === 6 && !IPV6_PUBLIC.check(address, 'ipv6')) || ipaddr.parse(address).range() !== 'unicast';
}
