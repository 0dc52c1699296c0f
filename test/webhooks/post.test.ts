import { randomBytes } from 'node:crypto';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { postWebhook } from '../../src/webhooks/post.ts';
import { aServer } from '../outbound/receiver.ts';

/** Gzip with the name of a file in its header. */
const withName = (gzip: Buffer): Buffer =>
  Buffer.concat([
    gzip.subarray(0, 3),
    Buffer.of(8),
    gzip.subarray(4, 10),
    Buffer.from('event.json\0'),
    gzip.subarray(10),
  ]);

const post = (server: Awaited<ReturnType<typeof aServer>>, signal?: AbortSignal) =>
  postWebhook(server.url, { 'webhook-id': 'msg_1' }, '{"ä":1}', server.allowed, signal);

describe('a webhook is posted', () => {
  test('with its headers and body, and nothing else of this service', async () => {
    let received = '';
    const server = await aServer((req, res) =>
      req.on('data', (chunk: Buffer) => (received += chunk.toString())).on('end', () => res.writeHead(204).end()),
    );

    expect(await post(server)).toEqual({ status: 204, body: '', retryAfter: undefined });
    expect(received).toBe('{"ä":1}');
    expect(server.requests[0]?.headers).toEqual({
      host: `client.example:${server.port}`,
      'webhook-id': 'msg_1',
      'content-type': 'application/json',
      'content-length': '8',
      'user-agent': 'Roster-Webhooks/1.0',
      accept: '*/*',
      'accept-encoding': 'identity',
      connection: 'close',
    });
  });

  test('once, also if the connection breaks', async () => {
    const server = await aServer((req) => req.socket.destroy());

    await expect(post(server)).rejects.toThrow(/hang up/);
    expect(server.requests).toHaveLength(1);
  });
});

describe('of an answer', () => {
  test('the first KB is kept, and the rest is not waited for', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const server = await aServer((_req, res) => {
      res.writeHead(500, { 'retry-after': '7' });
      res.on('drain', pour).on('close', resolve);
      pour();
      function pour() {
        while (!res.destroyed && res.write(Buffer.alloc(1000, 'x')));
      }
    });

    expect(await post(server)).toEqual({ status: 500, body: 'x'.repeat(1024), retryAfter: '7' });
    await closed;
  });

  test('the status counts if its body breaks off', async () => {
    const server = await aServer((req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('ok', () => req.socket.destroy());
    });

    expect(await post(server)).toMatchObject({ status: 200, body: 'ok' });
  });

  test.for([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['gzip', (text: string) => Buffer.concat([gzipSync(text), Buffer.from('\r\n')])],
    ['gzip', (text: string) => Buffer.concat([withName(gzipSync(text)), Buffer.from('and more')])],
  ] as const)('what came as %s is decoded, and at most 1 KB of it is kept', async ([encoding, compress]) => {
    for (const sent of ['no such event', 'x'.repeat(10_000_000), randomBytes(4096).toString('hex')]) {
      const server = await aServer((_req, res) => {
        res.writeHead(400, { 'content-encoding': encoding });
        res.end(compress(sent));
      });
      const { status, body } = await post(server);

      expect(status).toBe(400);
      expect(sent.startsWith(body)).toBe(true);
      expect(body.length).toBe(Math.min(1024, sent.length));
    }
  });

  // Some short texts are the beginning of deflate.
  test.for(
    ['gzip', 'deflate'].flatMap((encoding) =>
      ['no such event', '%W', 'z2<A', '3[T?7/7:15;', 'x'.repeat(2000)].map((text) => [encoding, text] as const),
    ),
  )('what is not in the encoding that it names (%s) is kept as it is: %s', async ([encoding, text]) => {
    const server = await aServer((_req, res) => {
      res.writeHead(400, { 'content-encoding': encoding });
      res.end(text);
    });

    expect((await post(server)).body).toBe(text.slice(0, 1024));
  });

  test('what PostgreSQL cannot store is replaced', async () => {
    const server = await aServer((_req, res) => res.end(Buffer.from([0x61, 0x00, 0xff, 0x62])));

    expect((await post(server)).body).toBe('a\uFFFD\uFFFDb');
  });

  test('at most 8 KB of headers are read', async () => {
    const server = await aServer((_req, res) => res.writeHead(200, { 'x-long': 'a'.repeat(8192) }).end());

    await expect(post(server)).rejects.toThrow(/Header overflow/);
  });
});

describe('a receiver that hangs', () => {
  test('is given up after 15 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const server = await aServer(() => resolve());
    const settled = vi.fn<() => void>();
    const posted = post(server).finally(settled);
    posted.catch(() => undefined);
    await asked;

    await vi.advanceTimersByTimeAsync(14_999);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);

    await expect(posted).rejects.toThrow(/abort/);
  });

  test('is given up when the service stops', async () => {
    const stopping = new AbortController();
    const server = await aServer(() => stopping.abort());

    await expect(post(server, stopping.signal)).rejects.toThrow(/abort/);
  });
});
