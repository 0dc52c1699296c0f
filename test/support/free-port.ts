import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Returns a port that nothing listens at, for a program that takes no 0. Another process may take it meanwhile. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo; // listening on TCP
  probe.close();
  await once(probe, 'close');
  return port;
}
