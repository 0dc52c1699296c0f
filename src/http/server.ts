import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
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

export const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/** Stops accepting, lets what runs finish within the bound, then ends what is left. */
export async function closeServer(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(timer);
}
