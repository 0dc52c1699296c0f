import { once } from 'node:events';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';
import { aCertificate } from './certificate.ts';

const HOST = 'hostile.example';
const certificate = aCertificate(HOST);

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** What a server can send without end: a beginning, and what it repeats. */
export type Flood = { readonly start: string; readonly repeated: string };

export const FLOODS: Readonly<Record<string, Flood>> = {
  'informational answers': { start: '', repeated: 'HTTP/1.1 103 Early Hints\r\n\r\n' },
  'informational answers with headers': {
    start: '',
    repeated: `HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(4000)}>\r\n\r\n`,
  },
  'answers with 100': { start: '', repeated: 'HTTP/1.1 100 Continue\r\n\r\n' },
  headers: { start: OK, repeated: 'a: b\r\n' },
  'one header': { start: `${OK}a: `, repeated: 'b' },
  'the headers of an informational answer': { start: 'HTTP/1.1 103 Early Hints\r\n', repeated: 'a: b\r\n' },
  'a status line': { start: 'HTTP/1.1 200 ', repeated: 'OK' },
  'a body': { start: `${OK}\r\n`, repeated: ' ' },
  'a body in chunks of one byte': { start: CHUNKED, repeated: '1\r\n \r\n' },
  'the extensions of a chunk': { start: `${CHUNKED}1`, repeated: ';a=b' },
  trailers: { start: `${CHUNKED}0\r\n`, repeated: 'a: b\r\n' },
  'line ends': { start: '', repeated: '\r\n' },
};

/** What a server can send before it says nothing more. */
export const SILENCES: Readonly<Record<string, string>> = {
  'before an answer': '',
  'after an informational answer': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  'in the headers': `${OK}a: b`,
  'in the body': `${CHUNKED}1\r\n`,
  'in the trailers': `${CHUNKED}0\r\na: b`,
};

/** A server on this machine that answers each request with the same bytes, and then repeats others without end. */
export async function aHostileServer({ start, repeated = '' }: Partial<Flood>) {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const repetition = repeated.repeat(Math.ceil(16_384 / Math.max(repeated.length, 1)));
  const connections = new Set<TLSSocket>();
  const server = createServer(certificate, (socket) => {
    connections.add(socket);
    const pour = () => {
      while (repetition !== '' && !socket.destroyed && socket.write(repetition));
    };
    socket.on('error', () => undefined).on('close', close);
    socket.once('data', () => {
      if (start !== undefined && start !== '') socket.write(start);
      socket.on('drain', pour);
      pour();
      answer();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // listening on TCP
  const lookup: LookupFunction = (_hostname, { all }, callback) =>
    all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
  return {
    url: `https://${HOST}:${port}/client.json`,
    network: { lookup, ca: certificate.cert, allowedNetworks: ['127.0.0.1'] },
    /** The first answer has begun. */
    answered,
    /** The first connection is closed. */
    closed,
  };
}
