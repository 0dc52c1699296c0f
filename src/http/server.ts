import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { ConfigError } from '../config/config.ts';
import type { AccessLog } from './access-log.ts';
import { coalesceBody } from './coalesce-body.ts';
import { guardListener, isolateLog, type Listener } from './guard.ts';
import { handleInOrder, hasUnfinishedResponse } from './in-order.ts';
import { answerParserErrors, type Origin } from './parser-errors.ts';
import { cutOffStalledReaders } from './stalled-readers.ts';
import { SECOND_MS } from '../time.ts';

type Limits = Required<
  Pick<
    ServerOptions,
    'maxHeaderSize' | 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
  >
> & {
  /** How long bytes of a response, and requests behind another one, can wait for the client without progress. */
  stallTimeout: number;
  /** How long a connection whose request was rejected by its form or time stays open after the answer. */
  lingerTimeout: number;
};

const LIMITS: Limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10 * SECOND_MS,
  requestTimeout: 30 * SECOND_MS,
  // Longer than load balancers keep connections, so that they never send into one that is closing.
  keepAliveTimeout: 65 * SECOND_MS,
  connectionsCheckingInterval: 2 * SECOND_MS,
  stallTimeout: 30 * SECOND_MS,
  lingerTimeout: 3 * SECOND_MS,
};

/**
 * Creates an HTTP server with limits. Requests that trickle or overflow are answered with a problem document;
 * clients that do not read their responses are disconnected.
 * @param limits overrides
 */
export function createHttpServer(app: Listener, origin: Origin, log: AccessLog, limits: Partial<Limits> = {}): Server {
  const { stallTimeout, lingerTimeout, ...options } = { ...LIMITS, ...limits };
  const safeLog = isolateLog(log);
  const guarded = guardListener(app, { log: safeLog, baseUrl: origin.baseUrl });
  const listener: RequestListener = (req, res) => {
    coalesceBody(req);
    handleInOrder(res, stallTimeout, () => guarded(req, res));
  };
  const server = createServer(
    {
      ...options,
      // The app rejects missing and repeated hosts itself, with a problem document.
      requireHostHeader: false,
      noDelay: true,
    },
    listener,
  );
  answerParserErrors(server, origin, safeLog, lingerTimeout);
  cutOffStalledReaders(server, stallTimeout, hasUnfinishedResponse);
  // RFC 9110, section 10.1.1: unknown expectations can be ignored.
  server.on('checkExpectation', listener);
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

/** Stops accepting connections, waits for running requests up to the bound, then closes the remaining ones. */
export async function closeServer(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(timer);
}
