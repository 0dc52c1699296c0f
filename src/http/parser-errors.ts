import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ProblemError } from '../problems/error.ts';
import type { ProblemCode } from '../problems/catalogue.ts';
import type { AccessLog } from './access-log.ts';
import { lastUnfinished } from './in-order.ts';
import { createApiHeaders, buildHeaders, createProblemReply } from './reply.ts';
import { createRequestIds } from './request-id.ts';

const CODES_BY_PARSER_ERROR: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

const LONG = Symbol('long requests');
type Connection = Duplex & { [LONG]?: boolean };

/**
 * Exempts a connection from the time limit of requests. The caller has to limit the time itself.
 * @returns a function that ends the exemption
 */
export function allowLongRequest(connection: Duplex & { [LONG]?: boolean }): () => void {
  connection[LONG] = true;
  return () => void (connection[LONG] = false);
}

/** What the service says of its own address. */
export type Origin = { readonly baseUrl: string; readonly hsts?: string | undefined };

/**
 * Answers requests that Node's parser rejects, with a problem document like all others, and closes their connections.
 * @param lingerMs how long a client has to read the answer, whatever it sends until then
 */
export function answerParserErrors(server: Server, { baseUrl, hsts }: Origin, log: AccessLog, lingerMs: number): void {
  const common = createApiHeaders(hsts, true);
  const answered = new WeakSet<Duplex>();

  server.on('clientError', (error: NodeJS.ErrnoException, connection: Connection) => {
    if (error.code === 'ECONNRESET' || !connection.writable) {
      connection.destroy();
      return;
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection[LONG] === true) return;
    // The parser reports an error again for every chunk that follows.
    if (answered.has(connection)) return;
    answered.add(connection);
    // Otherwise input would count as progress of the responses that wait (see `cutOffStalledReaders`).
    if (connection.writableLength > 0) connection.pause();
    const problem = new ProblemError(CODES_BY_PARSER_ERROR[error.code ?? ''] ?? 'malformed_request');
    // An incomplete request is the one that the parser rejected; pipelined requests before it get their own answers.
    const last = lastUnfinished(connection);
    if (last === undefined) answer(connection, problem);
    else last.once('close', () => answer(connection, problem));
  });

  function answer(connection: Duplex, problem: ProblemError): void {
    if (!connection.writable) return;
    const startedAt = performance.now();
    const requestIds = createRequestIds();
    const reply = createProblemReply(problem, baseUrl, requestIds);
    const headers = [...buildHeaders(reply, requestIds, common), 'Connection', 'close'];
    const lines = headers.map((text, i) => (i % 2 === 0 ? `\r\n${text}: ` : text)).join('');
    connection.end(
      `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}${lines}\r\n\r\n${String(reply.body)}`,
      () => {
        // Closed at once, what the client still sends would make the system discard the answer.
        connection.resume();
        const timer = setTimeout(() => connection.destroy(), lingerMs).unref();
        connection.once('close', () => clearTimeout(timer));
      },
    );
    log.request({ statusCode: reply.status }, null, startedAt, null, requestIds);
  }
}

/** Whether a request has exactly one `Host`, as HTTP/1.1 requires (RFC 9112, section 3.2). */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
