import { describe, expect, test as base } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { anotherToken } from './kinds.ts';
import { aKey, anApi, countOf, LIMITED, remaining, statuses, times } from './limited.ts';

/** An instance for the tests that use no bucket but those of their own credentials, and one whose limit nothing reaches. */
const test = base.extend<{ limited: Api; roomy: Api }>({
  limited: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const api = await startApi(LIMITED);
      await use(api);
      await api.close();
    },
    { scope: 'file' },
  ],
  roomy: [
    // eslint-disable-next-line no-empty-pattern -- as above
    async ({}, use) => {
      const api = await startApi({ RATE_LIMIT: '1000' });
      await use(api);
      await api.close();
    },
    { scope: 'file' },
  ],
});

/** Uses up the five requests of the credential, or of the address where none is given. */
async function exhaust(api: Api, key: { secret: string } | null): Promise<void> {
  for (let i = 0; i < 5; i += 1) await api.as(key).get('/api/v1/credential');
}

const batchOf = (calls: number): string =>
  `/trpc/${Array.from({ length: calls }, () => 'getCredential').join(',')}?batch=1`;

describe('the limit of a credential', () => {
  test('of 320 parallel calls exactly 300 get through', async () => {
    const api = await anApi({ RATE_LIMIT: '300' });
    const key = await aKey(api);

    const answers = await times(320, () => api.as(key).get('/api/v1/credential'));

    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([300, 20]);
    const left = answers.filter(({ status }) => status === 200).map(remaining);
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, index) => index));
  });

  test('it is 300 requests in 60 seconds unless configured otherwise', async () => {
    const api = await anApi({ RATE_LIMIT: '' });

    const { headers } = await api.as(await aKey(api)).get('/api/v1/credential');

    expect(headers).toMatchObject({
      'ratelimit-limit': '300',
      'ratelimit-remaining': '299',
      'ratelimit-reset': '60',
      'ratelimit-policy': '"default";q=300;w=60',
      ratelimit: '"default";r=299;t=60',
    });
  });

  test('what remains counts down, and the reset never moves away', async ({ limited: api }) => {
    const key = await aKey(api);

    const answers: Answer[] = [];
    for (let i = 0; i < 7; i += 1) answers.push(await api.as(key).get('/api/v1/teams'));

    expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const resets = answers.map(({ headers }) => Number(headers['ratelimit-reset']));
    expect(resets).toEqual(resets.toSorted((a, b) => b - a));
    expect(Math.max(...resets)).toBeLessThanOrEqual(60);
    expect(Math.min(...resets)).toBeGreaterThan(0);
  });

  test('a 429 contains in header and document how long to wait', async ({ limited: api }) => {
    const key = await aKey(api);
    await exhaust(api, key);

    const answer = await api.as(key).get('/api/v1/credential');

    expect(answer).toBeProblem('rate_limited');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['retry-after']).toBe(answer.headers['ratelimit-reset']);
    expect(answer.body.retryAfter).toBe(Number(answer.headers['retry-after']));
  });

  test('the next window opens when the announced time has passed, however many requests were denied before', async () => {
    const api = await anApi({ ...LIMITED, RATE_WINDOW_SECONDS: '1' });
    const key = await aKey(api);
    await exhaust(api, key);
    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('rate_limited');

    await expect.poll(async () => (await api.as(key).get('/api/v1/credential')).status, { interval: 20 }).toBe(200);

    expect(remaining(await api.as(key).get('/api/v1/credential'))).toBe(3);
  });

  test('each credential has a bucket of its own, also of one account', async () => {
    const api = await anApi();
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const [one, two] = [await api.anApiKey(account), await api.anApiKey(account)];
    const teamKey = await api.anApiKey(account, { team });
    await exhaust(api, one);

    expect(await api.as(one).get('/api/v1/credential')).toBeProblem('rate_limited');
    expect(remaining(await api.as(two).get('/api/v1/credential'))).toBe(4);
    expect(remaining(await api.as(teamKey).get('/api/v1/credential'))).toBe(4);
    expect(remaining(await api.anonymous.get('/api/v1/credential'))).toBe(4);
  });

  // Guarantees that refreshing a token over and over buys no requests.
  test('the access tokens of a grant share its bucket, and another grant has its own', async ({ limited: api }) => {
    const account = await api.anAccount();
    const [grant, other] = [await api.aGrant(account), await api.aGrant(account)];
    const tokens = [grant, await anotherToken(api, grant), await anotherToken(api, grant)];

    const answers: Answer[] = [];
    for (const token of [...tokens, ...tokens]) answers.push(await api.as(token).get('/api/v1/credential'));

    expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(remaining(await api.as(other).get('/api/v1/credential'))).toBe(4);
  });

  test('rejected requests count as well, and a 429 counts nothing', async ({ limited: api }) => {
    const key = await api.anApiKey(await api.anAccount());

    const answers = [
      await api.as(key).get('/api/v1/me'),
      await api.as(key).get('/api/v1/teams/unknown'),
      await api.as(key).get('/api/v1/unknown'),
      await api.as(key).delete('/api/v1/teams'),
      await api.as(key).get(`/api/v1/teams/${'x'.repeat(300)}`),
      await api.as(key).get('/api/v1/teams'),
    ];

    expect(statuses(answers)).toEqual([403, 404, 404, 405, 400, 429]);
    expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0]);
  });
});

describe('the bucket of a client address', () => {
  // Guarantees that a flood of invented keys is limited, and opens no bucket for each of them.
  test('pays for every request without a valid credential', async () => {
    const api = await anApi();
    const account = await api.anAccount();
    const revoked = await api.anApiKey(account, { revoked: true });
    const expired = await api.anApiKey(account, { expiresAt: new Date(Date.now() - 1000) });
    const invented = () => api.services.tokens.generate('personalKey');

    const answers = [
      await api.anonymous.get('/api/v1/credential'),
      await api.as(invented()).get('/api/v1/credential'),
      await api.as('nonsense').get('/api/v1/credential'),
      await api.as(revoked).get('/api/v1/credential'),
      await api.as(expired).get('/api/v1/credential'),
      await api.as(invented()).get('/api/v1/credential'),
      await api.anonymous.get('/api/v1/openapi.json'),
    ];

    expect(statuses(answers)).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0, 0]);
  });

  test('being used up does not keep out a valid credential of that address', async () => {
    const api = await anApi();
    const key = await aKey(api);
    await exhaust(api, null);

    expect(await api.anonymous.get('/api/v1/credential')).toBeProblem('rate_limited');
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
  });

  test('cannot be left by inventing X-Forwarded-For', async () => {
    const api = await anApi();

    const answers: Answer[] = [];
    for (let i = 0; i < 6; i += 1) {
      const headers = { 'x-forwarded-for': `192.0.2.${i}` };
      answers.push(await api.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers }));
    }

    expect(statuses(answers)).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test('is that of X-Forwarded-For behind a trusted proxy, never the leftmost one', async () => {
    const api = await anApi({ ...LIMITED, TRUST_PROXY: '1' });
    const from = (forwarded: string) =>
      api.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers: { 'x-forwarded-for': forwarded } });

    for (let i = 0; i < 5; i += 1) await from(`10.9.8.${i}, 192.0.2.1`);

    expect(await from('10.9.8.9, 192.0.2.1')).toBeProblem('rate_limited');
    expect((await from('10.9.8.9, 192.0.2.2')).status).toBe(401);
  });
});

describe('the order of checks', () => {
  test.for([
    ['a path that does not exist', 'GET', '/api/v1/unknown', 404],
    ['a method that the path does not have', 'PUT', '/api/v1/teams', 405],
    ['a scope that is lacking', 'GET', '/api/v1/me', 403],
    ['a team nobody sees', 'GET', '/api/v1/teams/unknown', 404],
    ['a body that is none', 'POST', '/api/v1/teams', 400],
  ] as const)('429 comes before the refusal of %s', async ([, method, path, refusal], { limited: api }) => {
    const key = await aKey(api);
    expect((await api.as(key).send({ method, path })).status).toBe(refusal);
    await exhaust(api, key);

    expect(await api.as(key).send({ method, path })).toBeProblem('rate_limited');
  });

  test('429 comes before 401 and 404 for those without a credential', async () => {
    const api = await anApi();
    await exhaust(api, null);

    for (const path of ['/api/v1/credential', '/api/v1/unknown', '/api/v1/openapi.json']) {
      expect(await api.anonymous.get(path)).toBeProblem('rate_limited');
    }
  });

  test('429 comes before the 401, 404 and 400 of /trpc too', async () => {
    const api = await anApi();
    const key = await aKey(api);
    await exhaust(api, key);
    await exhaust(api, null);

    const answers = [
      await api.as(key).get('/trpc/listTeams'),
      await api.as(key).get('/trpc/dropEverything'),
      await api.as(key).post('/trpc/createTeam', { name: '' }),
      await api.anonymous.get('/trpc/listTeams'),
    ];

    expect(statuses(answers)).toEqual([429, 429, 429, 429]);
    for (const { body, headers } of answers) {
      expect(body.error.data.problem.code).toBe('rate_limited');
      expect(headers['retry-after']).toBe(headers['ratelimit-reset']);
    }
  });
});

describe('the rate headers', () => {
  test.for([
    [200, 'GET', '/api/v1/credential'],
    [200, 'HEAD', '/api/v1/credential'],
    [204, 'OPTIONS', '/api/v1/teams'],
    [404, 'OPTIONS', '/api/v1/unknown'],
    [400, 'POST', '/api/v1/teams'],
    [403, 'GET', '/api/v1/me'],
    [404, 'GET', '/api/v1/unknown'],
    [404, 'GET', '/api/v1'],
    [405, 'PUT', '/api/v1/teams'],
    [200, 'GET', '/api/v1/openapi.json'],
    [200, 'GET', '/trpc/listTeams'],
    [404, 'GET', '/trpc/unknown'],
    [200, 'GET', '/healthz'],
    [200, 'GET', '/readyz'],
    [200, 'GET', '/docs'],
    [200, 'GET', '/problems/rate-limited'],
    [404, 'GET', '/problems/unknown'],
    [200, 'GET', '/'],
    [404, 'GET', '/nowhere'],
    [404, 'GET', '/unknown'],
  ] as const)('are on the %i of %s %s', async ([status, method, path], { roomy: api }) => {
    const key = await aKey(api);

    const answer = await api.as(key).send({ method, path });

    expect(answer.status).toBe(status);
    expectRateHeaders(answer, 1000);
  });

  test('are on 401 and 429', async () => {
    const api = await anApi();
    const key = await aKey(api);
    await exhaust(api, key);

    expectRateHeaders(await api.anonymous.get('/api/v1/credential'), 5);
    expectRateHeaders(await api.as(key).get('/api/v1/credential'), 5);
  });

  function expectRateHeaders({ headers }: Answer, limit: number): void {
    expect(headers['ratelimit-limit']).toBe(String(limit));
    expect(headers['ratelimit-remaining']).toMatch(/^\d+$/);
    expect(Number(headers['ratelimit-remaining'])).toBeLessThanOrEqual(limit);
    expect(headers['ratelimit-reset']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  }
});

describe('what is not charged', () => {
  test('OPTIONS, also where nothing is left', async () => {
    const api = await anApi();
    const key = await aKey(api);
    const options = (path: string) => api.as(key).send({ method: 'OPTIONS', path });

    for (let i = 0; i < 8; i += 1) await options('/api/v1/teams');
    expect(remaining(await api.as(key).get('/api/v1/credential'))).toBe(4);
    expect(remaining(await api.anonymous.get('/api/v1/credential'))).toBe(4);
    await exhaust(api, key);
    await exhaust(api, null);

    expect((await options('/api/v1/teams')).status).toBe(204);
    expect((await options('/trpc/listTeams')).status).toBe(204);
  });

  test('the public pages, which show the bucket of the address and are never limited by it', async () => {
    const api = await anApi();
    const pages = ['/healthz', '/readyz', '/docs', '/problems/rate-limited'];
    await api.anonymous.get('/api/v1/credential');

    for (const path of pages) expect([path, remaining(await api.anonymous.get(path))]).toEqual([path, 4]);
    await exhaust(api, null);

    for (const path of pages) {
      const answer = await api.anonymous.get(path);
      expect([path, answer.status, remaining(answer)]).toEqual([path, 200, 0]);
    }
  });
});

describe('/trpc', () => {
  test('shares the bucket of a credential with REST', async ({ limited: api }) => {
    const key = await aKey(api);

    const answers = [
      await api.as(key).get('/api/v1/credential'),
      await api.as(key).get('/trpc/getCredential'),
      await api.as(key).post('/trpc/createTeam', { name: 'Mine' }),
      await api.as(key).get('/api/v1/teams'),
      await api.as(key).get('/trpc/listTeams'),
      await api.as(key).get('/api/v1/teams'),
    ];

    expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('a batch consumes one request for each of its calls, and is denied as a whole if they do not fit', async ({
    limited: api,
  }) => {
    const key = await aKey(api);

    const answers = [
      await api.as(key).get(batchOf(3)),
      await api.as(key).get(batchOf(3)),
      await api.as(key).get(batchOf(2)),
      await api.as(key).get(batchOf(1)),
    ];

    expect(answers.map(remaining)).toEqual([2, 2, 0, 0]);
    expect(statuses(answers)).toEqual([200, 429, 200, 429]);
    const refused = answers[1]?.body as { error: { data: { problem: { code: string } } } }[]; // what tRPC makes of a refused batch
    const codes = refused.map(({ error }) => error.data.problem.code);
    expect(codes).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
  });

  // Guarantees that an encoded comma does not turn twenty calls into one.
  test('so is one whose commas are percent-encoded', async ({ limited: api }) => {
    const key = await aKey(api);

    const answer = await api.as(key).get(batchOf(3).replaceAll(',', '%2C'));

    expect([answer.status, remaining(answer)]).toEqual([200, 2]);
  });

  test('charges a batch without a valid credential to the address', async () => {
    const api = await anApi();

    const answer = await api.as('nonsense').get(batchOf(4));

    expect([answer.status, remaining(answer)]).toEqual([401, 1]);
    expect(remaining(await api.anonymous.get('/api/v1/credential'))).toBe(0);
  });
});
