import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ProblemError, type ProblemCode } from '../errors.ts';
import type { AccessLog } from './access-log.ts';
import { createApiHeaders, buildHeaders, createProblemReply } from './reply.ts';

const OF_PARSER: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what Node refuses before a request reaches us, with the problem document all others get. */
export function answerParserErrors(server: Server, baseUrl: string, log: AccessLog): void {
  const common = createApiHeaders(baseUrl);

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const startedAt = performance.now();
    const requestId = randomUUID();
    const reply = createProblemReply(
      new ProblemError(OF_PARSER[error.code ?? ''] ?? 'malformed_request'),
      baseUrl,
      requestId,
    );
    const headers = [...buildHeaders(reply, requestId, common), 'Connection', 'close'];
    const lines = headers.map((text, i) => (i % 2 === 0 ? `\r\n${text}: ` : text)).join('');
    socket.end(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}${lines}\r\n\r\n${String(reply.body)}`);
    log.request({ statusCode: reply.status }, null, startedAt, null, requestId);
  });
}

/** Whether a request names its host exactly once, as HTTP/1.1 demands (RFC 9112, section 3.2). */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}
