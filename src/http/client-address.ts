import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { ConfigError, type Config } from '../config.ts';

/** The address of the client, believing `X-Forwarded-For` exactly as far as `TRUST_PROXY` says. */
export function clientAddressBy(trustProxy: Config['trustProxy']): (req: IncomingMessage) => string {
  if (trustProxy === false) return (req) => req.socket.remoteAddress ?? '';
  const trust = trustBy(trustProxy);
  return (req) => proxyAddr(req, trust);
}

/** Whether a request comes from a proxy that `TRUST_PROXY` names, so that the headers which that one sets are believed. */
export function isProxiedBy(trustProxy: Config['trustProxy']): (req: IncomingMessage) => boolean {
  const trust = trustBy(trustProxy);
  return ({ socket }) => trust(socket.remoteAddress ?? '', 0);
}

/** `TRUST_PROXY` in the meaning Express gives to it: a number of hops, or addresses and networks. */
function trustBy(trustProxy: Config['trustProxy']): (address: string, hop: number) => boolean {
  if (trustProxy === false) return () => false;
  // The one in front. To Express it means everybody, and then a client writes its own address.
  if (trustProxy === true) return (_address, hop) => hop === 0;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  try {
    return proxyAddr.compile(trustProxy.split(',').map((part) => part.trim()));
  } catch (error) {
    throw new ConfigError(`TRUST_PROXY: ${error instanceof Error ? error.message : String(error)}`);
  }
}
