import { request } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import { withHashSlot } from '../../src/crypto/argon2.ts';
import { startApi, test, type Api } from '../support/api.ts';

/** How many sign-ins of an address can be at work or waiting. */
const QUEUE = 20;
/** More than places there are. */
const HELD = 8;

/** Sends a sign-in from an address. @returns its status, or 0 after it was hung up */
function signIn(api: Api, address: string) {
  const sent = request({
    port: api.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/trpc/auth.signIn',
    agent: false,
    headers: { origin: 'http://localhost:3000', 'content-type': 'application/json', 'x-forwarded-for': address },
  });
  const status = new Promise<number>((resolve) => {
    sent.once('response', (answer) => answer.resume().once('end', () => resolve(answer.statusCode ?? 0)));
    sent.once('error', () => resolve(0));
  });
  const written = new Promise<void>((resolve) => void sent.once('finish', resolve));
  sent.end(JSON.stringify({ email: 'nobody@example.com', password: 'wrong-password' }));
  return { status, written, hangUp: () => sent.destroy() };
}

/** Takes all places of password checks. */
function holdPlaces(): { readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  onTestFinished(() => resolve());
  for (let i = 0; i < HELD; i += 1) void withHashSlot(() => promise);
  return { release: resolve };
}

async function anApi() {
  const api = await startApi({ TRUST_PROXY: '1', SIGN_IN_LIMIT: '1000000' });
  onTestFinished(() => api.close());
  const count = (wanted: number) => api.lines.filter(({ status }) => status === wanted).length;
  return { api, count };
}

test('sign-ins that clients of many addresses have hung up on refuse no other one', async () => {
  const { api } = await anApi();
  const { release } = holdPlaces();
  const addresses = Array.from({ length: 5 * QUEUE }, (_, i) => `198.51.100.${i}`);

  const given = addresses.map((address) => signIn(api, address));
  await Promise.all(given.map(({ written }) => written));
  // A request that comes later is answered, so the others have begun: one that is reset before is not handled.
  for (let i = 0; i < 2; i += 1) expect((await fetch(`http://127.0.0.1:${api.port}/healthz`)).status).toBe(200);
  for (const { hangUp } of given) hangUp();

  const isSignIn = ({ operation }: Record<string, unknown>) => operation === 'auth.signIn';
  await expect.poll(() => api.lines.filter(isSignIn).length).toBe(given.length);
  const other = signIn(api, '203.0.113.1');
  release();
  expect(await other.status).toBe(401);
});

test.for([
  ['an address', () => '198.51.100.1'],
  ['an IPv6 site with a network for each', (i: number) => `2001:db8:1:${i.toString(16)}::1`],
] as const)('sign-ins of %s wait in its own queue, and refuse no other one', async ([, addressOf]) => {
  const { api, count } = await anApi();
  const { release } = holdPlaces();

  const many = Array.from({ length: 2 * QUEUE }, (_, i) => signIn(api, addressOf(i)).status);
  await expect.poll(() => count(503)).toBe(QUEUE);
  const other = signIn(api, '203.0.113.1');
  release();

  expect(await other.status).toBe(401);
  expect((await Promise.all(many)).filter((status) => status === 401)).toHaveLength(QUEUE);
});
