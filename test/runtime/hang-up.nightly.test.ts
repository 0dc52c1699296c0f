import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokens } from '../../src/crypto/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';

const CLIENTS = 100;
const UNKNOWN_KEY = createTokens('rst').generate('personalKey').secret;
const HEADERS = `Host: localhost\r\nAuthorization: Bearer ${UNKNOWN_KEY}\r\n`;

let database: TestDatabase;
const dataDir = makeDataDir();

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
  await removeDataDir(dataDir);
});

const startBehind = (trustProxy: string): Promise<Service> =>
  startService({
    dataDir,
    env: {
      DATABASE_URL: database.url,
      SECRET_KEYS: 'test-key-test-key-test-key-test-key',
      BASE_URL: 'http://localhost:3000',
      TRUST_PROXY: trustProxy,
    },
  });

/** Sends a request and resets the connection without waiting for the response. */
async function sendAndReset({ port }: Service, head: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${head}${HEADERS}\r\n`, () => socket.resetAndDestroy());
  await once(socket, 'close');
}

const REQUESTS = [
  'GET /api/v1/me HTTP/1.1\r\n',
  'GET /api/v1/teams HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\n',
  'GET /trpc/getMe HTTP/1.1\r\n',
  'GET /no-such-page HTTP/1.1\r\n',
  'POST /oauth/token HTTP/1.1\r\nContent-Length: 0\r\n',
  'BROKEN\r\n',
];

describe.each([
  ['a number of hops', '1'],
  ['addresses', 'loopback, 10.0.0.0/8'],
])('behind proxies given by %s', (_case, trustProxy) => {
  test(`${CLIENTS} clients that hang up concurrently do not end the process`, async () => {
    const service = await startBehind(trustProxy);
    try {
      const requests = Array.from({ length: CLIENTS }, (_, i) => REQUESTS[i % REQUESTS.length] ?? '');
      await Promise.all(requests.map((head) => sendAndReset(service, head)));

      const answer = await fetch(`${service.url}/api/v1/me`);
      expect(answer.status).toBe(401);
      expect(service.complaint()).toBe('');
    } finally {
      service.kill('SIGKILL');
      await service.exited;
    }
  });

  test('clients that hang up while the database does not answer do not end the process', async () => {
    const service = await startBehind(trustProxy);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table api_key in access exclusive mode');
      await Promise.all(Array.from({ length: 8 }, () => sendAndReset(service, REQUESTS[0] ?? '')));
      await blocker.query('rollback');

      const answer = await fetch(`${service.url}/api/v1/me`, { headers: { authorization: `Bearer ${UNKNOWN_KEY}` } });
      expect(answer.status).toBe(401);
      expect(service.complaint()).toBe('');
    } finally {
      await blocker.end();
      service.kill('SIGKILL');
      await service.exited;
    }
  });
});
