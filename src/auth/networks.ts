import ipaddr from 'ipaddr.js';

/** Converts an IP address or network to CIDR notation. @returns undefined if the text is neither */
export function toNetwork(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(address) || (address.includes(':') && ipaddr.IPv6.isValid(address));
  if (!isAddress || rest.length > 0 || address.includes('%') || (bits !== undefined && !/^\d{1,3}$/.test(bits)))
    return undefined;
  const parsed = ipaddr.parse(address);
  const network = `${parsed.toString()}/${bits ?? (parsed.kind() === 'ipv4' ? 32 : 128)}`;
  return ipaddr.isValidCIDR(network) ? network : undefined;
}

/** Returns whether a client's address is in one of the networks. Without networks, every address is. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (networks.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  const client = ipaddr.process(address);
  return networks.some((network) => {
    const [range, bits] = ipaddr.parseCIDR(network);
    return contains(range, bits, client);
  });
}

/** Returns whether each of the networks is part of one of `others`. No networks at all are all addresses. */
export function isWithin(networks: readonly string[], others: readonly string[]): boolean {
  if (others.length === 0) return true;
  return (
    networks.length > 0 &&
    networks.every((network) => {
      const [inner, innerBits] = ipaddr.parseCIDR(network);
      return others.some((other) => {
        const [outer, outerBits] = ipaddr.parseCIDR(other);
        return innerBits >= outerBits && contains(outer, outerBits, inner);
      });
    })
  );
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const contains = (range: Address, bits: number, address: Address): boolean =>
  range.kind() === address.kind() && address.match([range, bits] as [ipaddr.IPv6, number]);
