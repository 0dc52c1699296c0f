import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/origins.ts';

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Returns whether a client on this machine uses a loopback name of this machine and the port of `baseUrl`. The IP
 * address is not enough, because behind a proxy all clients have the proxy's. The name is not enough, because clients
 * choose it. Other names are denied, because pages of other sites can let their own name resolve to this machine.
 */
export const isLocalRequest = ({ headers, socket }: IncomingMessage, baseUrl: string): boolean =>
  isLoopbackHost(headers.host ?? '', new URL(baseUrl).port) &&
  /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/.test(socket.remoteAddress ?? '') &&
  PROXY_HEADERS.every((name) => headers[name] === undefined);

function isLoopbackHost(host: string, port: string): boolean {
  const url = /^[\w.:[\]-]+$/.test(host) ? URL.parse(`http://${host}`) : null;
  return url?.port === port && isLoopback(url.hostname);
}
