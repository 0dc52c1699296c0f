import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { ConfigError, type Config } from '../config.ts';

/** The address of the client, believing `X-Forwarded-For` exactly as far as `TRUST_PROXY` says. */
export function clientAddressBy(trustProxy: Config['trustProxy']): (req: IncomingMessage) => string {
  if (trustProxy === false) return (req) => req.socket.remoteAddress ?? '';
  const trust = trustFunction(trustProxy);
  return (req) => proxyAddr(req, trust);
}

/** `TRUST_PROXY` in the meaning Express gives to it: all, a number of hops, or addresses and networks. */
function trustFunction(trustProxy: true | number | string): (address: string, hop: number) => boolean {
  if (trustProxy === true) return () => true;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  try {
    return proxyAddr.compile(trustProxy.split(',').map((part) => part.trim()));
  } catch (error) {
    throw new ConfigError(`TRUST_PROXY: ${error instanceof Error ? error.message : String(error)}`);
  }
}
