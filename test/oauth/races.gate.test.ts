import pg from 'pg';
import { describe, expect } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/db/advisory-locks.ts';
import { startApi, test as base, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aCode, aProofKey, askConsent, exchange, goodRequest, post, refresh, resume, someTokens } from './flow.ts';
import { familyOf, grantOf, isRevoked, liveChains, outcome, scopesOf, works } from './token-endpoint.ts';

const instance = (settings: Record<string, string>) =>
  [
    async ({ api }: { api: Api }, use: (replica: Api) => Promise<void>) => {
      const replica = await startApi(settings, api);
      await use(replica);
      await replica.close();
      expect(replica.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
    { scope: 'file' },
  ] as const;

/** Another instance on the same database; and one where no refresh is answered twice. */
const test = base.extend<{ replica: Api; unforgiving: Api }>({
  replica: [...instance({})],
  unforgiving: [...instance({ OAUTH_REFRESH_REPEAT: '0' })],
});

const ROUNDS = [1, 2, 3];

/** Eight at once, half of them on each instance. */
const eightTimes = (instances: readonly Api[], send: (api: Api) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: 4 }, () => instances.map(send)).flat());

const succeeded = (answers: readonly Answer[]) => {
  for (const answer of answers) expect(['200', '400 invalid_grant']).toContain(outcome(answer));
  return answers.filter(({ status }) => status === 200).map(({ body }) => body);
};

describe('at the same time', () => {
  test('eight exchanges of a code leave nothing alive', async ({ api, replica }) => {
    for (const _ of ROUNDS) {
      const given = await aCode(api);

      const tokens = succeeded(await eightTimes([api, replica], (at) => exchange(at, given)));

      expect(tokens.length).toBeLessThanOrEqual(1);
      const grantId = await grantOf(api, given.client);
      expect(await isRevoked(api, grantId)).toBe(true);
      expect(await liveChains(api, grantId)).toBe(0);
      for (const { access_token: access, refresh_token: token } of tokens) {
        expect(await works(replica, access)).toBe(false);
        expect(outcome(await refresh(api, given.client, token))).toBe('400 invalid_grant');
      }
    }
  });

  test('eight refreshes have one and the same answer, whose tokens live', async ({ api, replica }) => {
    for (const _ of ROUNDS) {
      const { client, tokens } = await someTokens(api);

      const answers = succeeded(await eightTimes([api, replica], (at) => refresh(at, client, tokens.refresh)));

      expect(answers).toHaveLength(8);
      expect(new Set(answers.map((body) => JSON.stringify(body))).size).toBe(1);
      expect(await liveChains(api, await grantOf(api, client))).toBe(1);
      expect(await works(replica, answers[0].access_token)).toBe(true);
      expect(outcome(await refresh(replica, client, answers[0].refresh_token))).toBe('200');
    }
  });

  test('eight refreshes leave nothing alive where none is answered twice', async ({ api, unforgiving }) => {
    for (const _ of ROUNDS) {
      const { client, tokens } = await someTokens(api);

      const answers = succeeded(await eightTimes([unforgiving], (at) => refresh(at, client, tokens.refresh)));

      expect(answers.length).toBeLessThanOrEqual(1);
      const grantId = await grantOf(api, client);
      expect(await isRevoked(api, grantId)).toBe(true);
      expect(await liveChains(api, grantId)).toBe(0);
      for (const token of [tokens.access, ...answers.map(({ access_token: access }) => access)]) {
        expect(await works(api, token)).toBe(false);
      }
    }
  });

  // The ends come a little later each round, so that they meet the refresh at different points.
  test.for<[string, (chain: Chain) => Promise<unknown>]>([
    ['the account that revokes the grant', ({ visitor, grantId }) => visitor.trpc.grants.revoke.mutate({ grantId })],
    [
      'the client that revokes the refresh token',
      ({ api, client, tokens }) => post(api, '/oauth/revoke', client, { token: tokens.refresh }),
    ],
    ['the account that is deleted', ({ visitor }) => visitor.trpc.account.delete.mutate()],
  ])('a refresh loses against %s', async ([, end], { api, replica }) => {
    for (const round of [0, 1, 2, 3, 4, 5]) {
      const given = await someTokens(api);
      const chain = { ...given, api, grantId: await grantOf(api, given.client) };
      const [answers] = await Promise.all([
        Promise.all([api, replica].map((at) => refresh(at, chain.client, chain.tokens.refresh))),
        later(api, round).then(() => end(chain)),
      ]);

      for (const { access_token: access, refresh_token: token } of succeeded(answers)) {
        expect(await works(replica, access)).toBe(false);
        expect(outcome(await refresh(api, chain.client, token))).toBe('400 invalid_grant');
      }
      expect(await liveChains(api, chain.grantId)).toBe(0);
      expect(await works(api, chain.tokens.access)).toBe(false);
      expect(outcome(await refresh(replica, chain.client, chain.tokens.refresh))).toBe('400 invalid_grant');
    }
  });

  type Chain = Awaited<ReturnType<typeof someTokens>> & { api: Api; grantId: string };

  /** So many round trips to the database. */
  async function later(api: Api, roundTrips: number): Promise<void> {
    for (let i = 0; i < roundTrips; i++) await api.rows('select');
  }

  // Guarantees that what is issued while the grant or consent ends is not handed out: its row is locked first, and read then.
  test.for<[by: string, ending: (id: string) => string]>([
    ['authorization_code', (id) => `delete from oauth_token_family where id = '${id}'`],
    ['refresh_token', (id) => `delete from oauth_token_family where id = '${id}'`],
    [
      'refresh_token',
      (id) => `update oauth_grant set revoked_at = now()
      where id = (select grant_id from oauth_token_family where id = '${id}')`,
    ],
  ])('by %s nothing comes from access that is being revoked', async ([by, ending], { api }) => {
    const given = by === 'refresh_token' ? await someTokens(api) : await aCode(api);
    const send = () => ('tokens' in given ? refresh(api, given.client, given.tokens.refresh) : exchange(api, given));
    const familyId = await familyOf(api, given.client);
    const issued = () =>
      api.rows(`select from oauth_token t join oauth_grant g on g.id = t.grant_id where g.account_id = $1`, [
        given.account.id,
      ]);
    const before = await issued();

    const answer = await meanwhile(api, ending(familyId), send);

    expect(outcome(answer)).toBe('400 invalid_grant');
    expect((await issued()).length).toBeLessThanOrEqual(before.length);
  });

  describe('by a code comes what the consent holds of the product', () => {
    const HELD = ['invoices:read', 'invoices:write'];

    async function aPerson(api: Api) {
      await declarePermissions(api, [{ name: 'invoices:read' }, { name: 'invoices:write' }]);
      const client = await api.anOAuthClient();
      await api.rows('update oauth_client set product_permissions = $2 where id = $1', [client.id, HELD]);
      const account = await api.anAccount();
      return { account, client, visitor: await signedIn(api, account) };
    }

    const heldOf = (api: Api, table: string, { client }: Awaited<ReturnType<typeof aPerson>>) =>
      api.rows(`select product_permissions as names from ${table} where client_id = $1`, [client.id]);

    test('once its client has lost a permission, also if that happens while the code is exchanged', async ({ api }) => {
      const person = await aPerson(api);
      for (const _ of ['creates the grant', 'renews it']) {
        const given = await aCode(api, person);
        const less = `update oauth_token_family set product_permissions = '{invoices:read}' where client_id = '${person.client.id}'`;
        expect(outcome(await meanwhile(api, less, () => exchange(api, given)))).toBe('200');
        expect(await heldOf(api, 'oauth_grant', person)).toEqual([{ names: ['invoices:read'] }]);
      }
    });

    test('of a catalogue that is not replaced meanwhile: consent and exchange wait for it', async ({ api }) => {
      const person = await aPerson(api);
      const { verifier, challenge } = aProofKey();
      const id = await askConsent(api, person.visitor, goodRequest(person.client, challenge, ['teams:read']));
      const replace = `select pg_advisory_xact_lock(${ADVISORY_LOCKS.permissionCatalogue});
        update oauth_client set product_permissions = '{invoices:read}' where id = '${person.client.id}'`;
      const input = { id, accountId: person.account.id, teamId: null, scopes: ['teams:read' as const] };
      const { redirectTo } = await meanwhile(api, replace, () =>
        person.visitor.trpc.authorizations.approve.mutate(input),
      );
      expect(await heldOf(api, 'oauth_token_family', person)).toEqual([{ names: ['invoices:read'] }]);
      const code = (await resume(api, person.visitor, redirectTo)).get('code') ?? '';
      const answer = await meanwhile(api, replace, () => exchange(api, { ...person, code, verifier }));
      expect(outcome(answer)).toBe('200');
    });
  });

  /** Sends a request that comes upon what another transaction has changed, and not committed before the request waits for it. */
  async function meanwhile<Answered>(api: Api, change: string, send: () => Promise<Answered>): Promise<Answered> {
    const other = new pg.Client({ connectionString: api.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(change);
      const answer = send();
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => api.rows(waiting), { interval: 5 }).toHaveLength(1);
      await other.query('commit');
      return await answer;
    } finally {
      await other.end();
    }
  }

  test('calls and refreshes have only the remaining scopes once a reduction was answered', async ({ api, replica }) => {
    const { client, visitor, tokens } = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });
    const grantId = await grantOf(api, client);
    let isNarrowed = false;
    const call = async (at: Api) => {
      const wasNarrowed = isNarrowed;
      const { status } = await at.as(tokens.access).get('/api/v1/teams');
      return { wasNarrowed, status };
    };
    const calls = [api, replica].map(async (at) => {
      const seen = [];
      do seen.push(await call(at));
      while (!isNarrowed);
      return [...seen, await call(at)];
    });

    const [answer, seen] = await Promise.all([
      refresh(replica, client, tokens.refresh),
      Promise.all(calls),
      visitor.trpc.grants.narrow.mutate({ grantId, scopes: ['profile:read'] }).then(() => (isNarrowed = true)),
    ]);

    expect(
      new Set(
        seen
          .flat()
          .filter(({ wasNarrowed }) => wasNarrowed)
          .map(({ status }) => status),
      ),
    ).toEqual(new Set([403]));
    expect(seen.flat().filter(({ status }) => status !== 200 && status !== 403)).toEqual([]);
    expect(outcome(answer)).toBe('200');
    expect(await scopesOf(api, answer.body.access_token)).toEqual(['profile:read']);
    const next = await refresh(api, client, answer.body.refresh_token);
    expect(next.body.scope).toBe('profile:read');
  });
});
