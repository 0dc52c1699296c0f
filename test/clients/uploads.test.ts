import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createOperator, isRosterError, type Rows } from '../../clients/typescript/src/index.ts';

const chunk = new Uint8Array(64 * 1024).fill(32);
const endless = () => new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(chunk) });

/** A proxy that closes each connection in the middle of an upload. @returns an operator behind it, and the number of connections */
async function behindImpatientProxy() {
  let connections = 0;
  const proxy = createServer((socket) => {
    connections += 1;
    let size = 0;
    socket.on('error', () => undefined); // writes of the client that arrive late
    socket.on('data', ({ length }) => {
      if ((size += length) > 1024 * 1024) socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo; // listening on TCP
  const operator = createOperator({ baseUrl: `http://127.0.0.1:${port}`, operatorKey: 'rst_ok_x', retries: 1 });
  return { operator, count: () => connections };
}

test.for<[string, () => Rows, number]>([
  ['a stream', endless, 1],
  ['a function', () => endless, 2],
  ['a Blob', () => new Blob(Array.from({ length: 400 }, () => chunk)), 2],
])('an upload of %s whose connection is closed rejects with an error that says so', async ([, rows, attempts]) => {
  const { operator, count } = await behindImpatientProxy();
  const error: unknown = await operator.createImport({ rows: rows() }).catch((reason: unknown) => reason);
  expect(isRosterError(error, 'createImport')).toBe(true);
  expect(error).toMatchObject({
    code: 'upload_interrupted',
    status: 0,
    message: expect.stringContaining('The connection was closed before a response'),
    cause: expect.any(TypeError),
  });
  expect(count()).toBe(attempts);
});

test('an upload that cannot connect, or is cancelled, rejects with the error of fetch', async () => {
  const refused = createOperator({ baseUrl: 'http://127.0.0.1:9', operatorKey: 'rst_ok_x', retries: 0 });
  await expect(refused.createImport({ rows: 'x' })).rejects.toThrow(TypeError);
  const { operator } = await behindImpatientProxy();
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(operator.createImport({ rows: endless() }, { signal })).rejects.toThrow('stopped');
});
