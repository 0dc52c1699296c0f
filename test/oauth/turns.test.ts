import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import type { AClient } from '../support/factories.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { QUEUE } from '../rest/tenants.ts';
import { aProofKey, goodRequest, queryOf } from './flow.ts';

/** More than wait for other callers. */
const MANY = QUEUE + 20;

const { challenge } = aProofKey();
const asked = (client: AClient) => goodRequest(client, challenge, ['teams:read']);

/** An instance that makes one change at a time. All requests come from one address. */
async function aNarrowApi(settings: Record<string, string> = {}): Promise<Api> {
  const api = await startApi({ DATABASE_POOL_MAX: '3', TRUST_PROXY: '1', ...settings });
  onTestFinished(() => api.close());
  return api;
}

const send = (api: Api, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${api.port}${path}`, { redirect: 'manual', ...init });

const pushFor = (api: Api, client: AClient) =>
  send(api, '/oauth/par', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: queryOf({ ...asked(client), client_id: client.id, client_secret: client.clientSecret ?? '' }),
  });

const cookiesOf = ({ cookies }: Visitor) => ({
  cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
});

const authorize = (api: Api, client: AClient, headers: Record<string, string> = {}) =>
  send(api, `/oauth/authorize?${queryOf(asked(client))}`, { headers });

/** Takes the only turn, so that all that comes has to wait. */
function holdTurn({ services: { db } }: Api): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void db.writeQueue.run(() => promise);
  return resolve;
}

/** Sends what waits for its turn together. @returns how it was answered */
async function together(api: Api, count: number, work: (turn: number) => Promise<Response>): Promise<number[]> {
  const release = holdTurn(api);
  const sent = Array.from({ length: count }, (_, turn) => work(turn));
  const answered = Promise.all(sent.map(async (answer) => (await answer).status));
  const waiting = () => expect(api.services.db.writeQueue.length).toBeGreaterThan(count);
  await Promise.race([answered, vi.waitFor(waiting, { timeout: PATIENCE_MS }).catch(() => undefined)]);
  release();
  return answered;
}

/** As many strangers as can wait at the address. */
async function fill(api: Api, client: AClient): Promise<() => Promise<unknown>> {
  const release = holdTurn(api);
  const strangers = Array.from({ length: MANY }, () => authorize(api, client));
  await vi.waitFor(() => expect(api.services.db.writeQueue.length).toBeGreaterThan(QUEUE), { timeout: PATIENCE_MS });
  return async () => {
    release();
    await Promise.all(strangers);
  };
}

describe('at one address', () => {
  test('a client of the operator pushes more requests at once than others can send', async () => {
    const api = await aNarrowApi();
    const client = await api.anOAuthClient({ confidential: true });

    const statuses = await together(api, MANY, () => pushFor(api, client));

    expect(new Set(statuses)).toEqual(new Set([201]));
  });

  test('nobody waits in the turn of a client without its secret', async () => {
    const api = await aNarrowApi();
    const [client, other] = [
      await api.anOAuthClient({ confidential: true }),
      await api.anOAuthClient({ confidential: true }),
    ];
    const basicOfOther = `Basic ${Buffer.from(`${other.id}:${other.clientSecret}`).toString('base64')}`;
    const release = holdTurn(api);

    const push = (form: Record<string, string>, headers: Record<string, string> = {}) =>
      send(api, '/oauth/par', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: queryOf({ ...asked(client), client_id: client.id, ...form }),
      });
    const answers = await Promise.all([
      push({}),
      push({ client_secret: 'rst_cs_invented' }),
      push({ client_secret: other.clientSecret ?? '' }),
      push({}, { authorization: basicOfOther }),
      push({ client_secret: client.clientSecret ?? '' }, { authorization: basicOfOther }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 400, 400]);
    // What holds the turn alone.
    expect(api.services.db.writeQueue.length).toBe(1);
    release();
  });

  test('all browsers that the limit of the address admits are sent on', async () => {
    const api = await aNarrowApi({ OAUTH_ADDRESS_LIMIT: String(MANY) });
    const client = await api.anOAuthClient();

    const statuses = await together(api, MANY, () => authorize(api, client));

    expect(new Set(statuses)).toEqual(new Set([303]));
    expect((await authorize(api, client)).status).toBe(429);
  });

  // Guarantees that what waits for strangers, and what they have used up, is not what its own users and products have.
  test.each([
    ['can wait', {}],
    ['are admitted', { OAUTH_ADDRESS_LIMIT: String(MANY) }],
  ])(
    'browsers that are signed in, and clients with a secret, go on while as many strangers as %s do',
    async (_, limit) => {
      const api = await aNarrowApi(limit);
      const client = await api.anOAuthClient();
      const product = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
      const [visitor, leaving] = [
        await signedIn(api, await api.anAccount()),
        await signedIn(api, await api.anAccount()),
      ];
      const started = await authorize(api, product, cookiesOf(visitor));
      const set = started.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
      const end = await fill(api, client);

      const answered = Promise.all([
        authorize(api, client, cookiesOf(visitor)),
        send(api, started.headers.get('location') ?? '', {
          headers: { cookie: [cookiesOf(visitor).cookie, ...set].join('; ') },
        }),
        send(api, '/oauth/logout', { headers: cookiesOf(leaving) }),
        pushFor(api, product),
      ]);
      await end();

      const answers = await answered;
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 201]);
      expect(answers[1]?.headers.get('location')).toMatch(/^https:\/\/client\.example\/callback\?code=/);
    },
  );

  test('who calls in other ways does not wait behind authorization requests', async () => {
    const api = await aNarrowApi();
    const client = await api.anOAuthClient();
    const account = await api.anAccount();
    const end = await fill(api, client);

    const signIn = api.visitor().trpc.auth.emailSignInLink.mutate({ email: account.email });
    await end();

    await expect(signIn).resolves.toBeDefined();
  });

  test('a session has as many requests as an address', async () => {
    const api = await aNarrowApi({ OAUTH_ADDRESS_LIMIT: '2' });
    const client = await api.anOAuthClient();
    const [one, other] = [await signedIn(api, await api.anAccount()), await signedIn(api, await api.anAccount())];
    const statuses: number[] = [];
    for (const visitor of [one, one, one, other])
      statuses.push((await authorize(api, client, cookiesOf(visitor))).status);

    expect(statuses).toEqual([303, 303, 429, 303]);
    // A session that is none counts at the address.
    for (const status of [303, 303, 429])
      expect((await authorize(api, client, { cookie: 'roster_session_3000=rst_ss_invented' })).status).toBe(status);
  });
});
