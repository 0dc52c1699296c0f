import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { ConfigError } from '../config.ts';
import type { AccessLog } from './access-log.ts';
import { answerParserErrors } from './parser-errors.ts';
import { SECOND_MS } from '../time.ts';

type Limits = Required<
  Pick<
    ServerOptions,
    'maxHeaderSize' | 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
  >
>;

const LIMITS: Limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10 * SECOND_MS,
  requestTimeout: 30 * SECOND_MS,
  // Longer than load balancers keep a connection, so that they do not send into one that is closing.
  keepAliveTimeout: 65 * SECOND_MS,
  connectionsCheckingInterval: 2 * SECOND_MS,
};

/**
 * An HTTP server with its limits set: what trickles or overflows is cut off with a problem document.
 * @param limits in place of the usual ones
 */
export function createHttpServer(
  app: RequestListener,
  baseUrl: string,
  log: AccessLog,
  limits: Partial<Limits> = {},
): Server {
  const server = createServer(
    {
      ...LIMITS,
      ...limits,
      // Missing and doubled hosts are refused by the app, with a problem document.
      requireHostHeader: false,
      noDelay: true,
    },
    app,
  );
  answerParserErrors(server, baseUrl, log);
  // RFC 9110, section 10.1.1: an expectation nobody knows may be ignored.
  server.on('checkExpectation', app);
  return server;
}

/**
 * Starts to accept connections.
 * @param variable the setting that names the port
 * @throws ConfigError if the port cannot be used
 */
export const listen = (server: Server, port: number, host: string, variable = 'PORT'): Promise<void> =>
  new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(listenFault(error, port, host, variable));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });

function listenFault(error: Error, port: number, host: string, variable: string): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE')
    return new ConfigError(`${variable}: ${port} on ${host} is in use (${code}): choose another port`);
  if (code === 'EACCES')
    return new ConfigError(`${variable}: this user cannot listen on ${port} (${code}): choose a port from 1024`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ConfigError(`HOST: ${host} is no address of this machine (${code})`);
  return error;
}

/** Stops accepting, lets what runs finish within the bound, then ends what is left. */
export async function closeServer(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(timer);
}
