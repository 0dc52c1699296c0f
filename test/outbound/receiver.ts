import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { isIP, type AddressInfo, type LookupFunction } from 'node:net';
import { onTestFinished } from 'vitest';
import { aCertificate } from '../support/certificate.ts';

export const HOST = 'client.example';

const certificate = aCertificate(HOST);

/** A resolver to which every name has the same addresses, and which counts what it is asked. */
export function resolvingTo(...found: string[]): LookupFunction & { asked: () => number } {
  let count = 0;
  const lookup: LookupFunction = (_hostname, options, callback) => {
    count += 1;
    const addresses = found.map((address): LookupAddress => ({ address, family: isIP(address) }));
    if (options.all) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
  return Object.assign(lookup, { asked: () => count });
}

/** An https server on this machine that answers as told, and what a caller needs to be let through to it. */
export async function aServer(listener: RequestListener) {
  let connections = 0;
  const requests: { url: string | undefined; headers: IncomingHttpHeaders; authority: string }[] = [];
  const server = createServer(certificate, (req, res) => {
    requests.push({ url: req.url, headers: req.headers, authority: req.headers.host ?? '' });
    listener(req, res);
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  const lookup = resolvingTo('127.0.0.1');
  return {
    url: `https://${HOST}:${port}/client.json`,
    port,
    requests,
    connections: () => connections,
    allowed: { lookup, ca: certificate.cert, allowedNetworks: ['127.0.0.1'] },
    refused: { lookup, ca: certificate.cert, allowedNetworks: [] },
  };
}
