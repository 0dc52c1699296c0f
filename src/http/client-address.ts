import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';
import { ConfigError, type Config } from '../config/config.ts';

/** Where a request comes from. */
type Source = {
  /** The client's IP address, or an empty string if it is unknown. */
  readonly address: string;
  /** Whether a proxy that `TRUST_PROXY` names sent the request. */
  readonly isProxied: boolean;
};

export type SourceReader = {
  /**
   * Returns the client's address and trusts `X-Forwarded-For` exactly as far as `TRUST_PROXY` says. Never throws.
   * The first call stores the result, because a closed socket no longer has an address: call it when a request arrives.
   */
  readonly address: (req: IncomingMessage) => string;
  /** Whether the headers that a trusted proxy sets can be believed. */
  readonly isProxied: (req: IncomingMessage) => boolean;
};

const SOURCE = Symbol('source');

export function createSourceReader(trustProxy: Config['trustProxy']): SourceReader {
  const isTrusted = createTrust(trustProxy);
  const read = (req: IncomingMessage & { [SOURCE]?: Source }): Source => (req[SOURCE] ??= readSource(req, isTrusted));
  return { address: (req) => read(req).address, isProxied: (req) => read(req).isProxied };
}

type Trust = (address: string, hop: number) => boolean;

/** Follows the chain of proxies from the connection backwards to the first address that is not trusted. */
function readSource({ socket, headers }: IncomingMessage, isTrusted: Trust): Source {
  const { remoteAddress = '' } = socket;
  const connection = remoteAddress.includes(':') ? parseAddress(remoteAddress) : remoteAddress;
  const isProxied = isTrusted(connection, 0);
  if (!isProxied) return { address: connection, isProxied };

  // Node joins repeated headers.
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map(parseAddress)
    .toReversed();
  const index = forwarded.findIndex((address, i) => !isTrusted(address, i + 1));
  return { address: (index === -1 ? forwarded.at(-1) : forwarded[index]) ?? connection, isProxied };
}

/** Reads `TRUST_PROXY` as Express does: a number of hops, or addresses and networks. */
function createTrust(trustProxy: Config['trustProxy']): Trust {
  if (trustProxy === false) return () => false;
  // Only the nearest proxy. In Express `true` trusts every hop, so that clients could choose their address.
  if (trustProxy === true) return (_address, hop) => hop === 0;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  try {
    return proxyAddr.compile(trustProxy.split(',').map((part) => part.trim()));
  } catch (error) {
    throw new ConfigError(`TRUST_PROXY: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** An address as proxies write it: `[IPv6]`, `[IPv6]:port` or `IPv4:port`. */
const BRACKETS_OR_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/;

/** @returns the address without port, brackets and zone, IPv4-mapped IPv6 as IPv4; empty if it is not one */
function parseAddress(text: string): string {
  const trimmed = text.trim();
  const [, bracketed, beforePort] = BRACKETS_OR_PORT.exec(trimmed) ?? [];
  const [plain = ''] = (bracketed ?? beforePort ?? trimmed).split('%', 1);
  const family = isIP(plain);
  if (family === 0) return '';
  return family === 4 ? plain : ipaddr.process(plain).toString();
}
