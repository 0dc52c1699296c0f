import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { aHostileServer, FLOODS, SILENCES } from '../support/hostile-server.ts';
import { SENDERS } from './senders.ts';

/** The longest limit of a sender. */
const LIMIT_MS = 15_000;

const SRC = join(import.meta.dirname, '../../src');

// Time passes only where a test says so: what ends in these tests did not end by its limit.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
});

test('every file that sends requests to URLs of users is tested here', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).filter((file) =>
    /\bsendOutbound\(/.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/^export async function .*$/gm, '')),
  );

  expect(files.toSorted()).toEqual(SENDERS.map(({ file }) => file).toSorted());
});

describe.each(SENDERS)('$name', ({ send }) => {
  test.each(Object.entries(FLOODS))('ends before its time if the server sends %s without end', async (_name, flood) => {
    const server = await aHostileServer(flood);

    await Promise.allSettled([send(server.url, server.network)]);
    await server.closed;
  });

  test.each(Object.entries(SILENCES))('ends in its time if the server says nothing more %s', async (_name, start) => {
    const server = await aHostileServer({ start });
    const settled = Promise.allSettled([send(server.url, server.network)]);
    await server.answered;

    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    await settled;
    await server.closed;
  });

  test('ends if its caller does', async () => {
    const caller = new AbortController();
    const server = await aHostileServer({});
    const sent = send(server.url, server.network, caller.signal);
    await server.answered;

    caller.abort();
    await expect(sent).rejects.toThrow(/abort/);
    await server.closed;
  });

  test('names the informational answers as its fault', async () => {
    const server = await aHostileServer({ start: '', repeated: 'HTTP/1.1 103 Early Hints\r\n\r\n' });

    await expect(send(server.url, server.network)).rejects.toThrow(/more than 8 informational answers/);
  });

  test('takes an answer after a few informational ones', async () => {
    const start = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(8) + 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n';
    const server = await aHostileServer({ start });

    const answered = await send(server.url, server.network).then(
      (answer) => answer,
      (error: Error) => ({ status: Number(/\d{3}/.exec(error.message)) }),
    );
    expect(answered).toMatchObject({ status: 404 });
  });
});
