import { describe, expect } from 'vitest';
import { SCOPES, type Scope } from '../../src/entities/index.ts';
import { startApi, test as base, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import type { Answer } from '../support/client.ts';
import type { AGrant } from '../support/factories.ts';
import { as, inMinutes, outcomeOf, tally, withKey } from './console.ts';

const test = base.extend<{ replica: Api }>({
  /** Another instance on the same database. */
  replica: [
    async ({ api }, use) => {
      const replica = await startApi({}, api);
      await use(replica);
      await replica.close();
      expect(replica.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    },
    { scope: 'file' },
  ],
});

/** Somebody who has connected an application, and what they call with. */
async function aScene(api: Api, options: Parameters<Api['aGrant']>[1] = {}) {
  const account = await api.anAccount();
  const grant = await api.aGrant(account, options);
  const { grants } = await as(api, account);
  return { account, grant, grantId: grant.id, grants };
}

const rowOf = async (api: Api, { id }: { id: string }) => {
  const [row] = await api.rows<{ scopes: Scope[]; narrowed_at: string | null; revoked_at: string | null }>(
    'select scopes, narrowed_at, revoked_at from oauth_grant where id = $1',
    [id],
  );
  return row;
};

const audited = (api: Api, { id }: { id: string }) =>
  api.lines
    .filter(({ grantId }) => grantId === id)
    .map(({ audit, accountId, clientId, grantId, teamId, scopes, reason }) => ({
      audit,
      accountId,
      clientId,
      grantId,
      teamId,
      ...(scopes === undefined ? {} : { scopes }),
      ...(reason === undefined ? {} : { reason }),
    }));

const isRefused = (answer: Answer) => expect(answer).toBeProblem('credential_invalid');

describe('grants.list', () => {
  test('shows the live ones, the latest first', async ({ api }) => {
    const account = await api.anAccount();
    const client = await api.anOAuthClient({ name: 'Calendar' });
    const team = await api.aTeam({ owner: account, name: 'Night Owls' });
    const expiresAt = inMinutes(60);
    const first = await api.aGrant(account, { client, expiresAt, scopes: ['billing:read', 'profile:read'] });
    const second = await api.aGrant(account, { client, team, expiresAt });
    const third = await api.aGrant(account, { client, expiresAt });
    await api.rows(`update oauth_grant set created_at = now() - interval '1 day' where id = $1`, [third.id]);
    await api.rows(`update oauth_grant set created_at = now() where id = any($1)`, [[first.id, second.id]]);
    const revoked = await api.aGrant(account);
    await api.rows('update oauth_grant set revoked_at = now() where id = $1', [revoked.id]);
    await api.aGrant(account, { expiresAt: inMinutes(-1) });
    await api.aGrant(await api.anAccount(), { client });

    const listed = await (await as(api, account)).grants.list.query();

    const common = {
      client: { id: client.id, name: 'Calendar' },
      openidScopes: [],
      lastUsedAt: null,
      expiresAt: expiresAt.toISOString(),
    };
    const createdAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const personal = { ...common, createdAt, audience: 'personal', resource: 'api', team: null };
    const expected = [
      { ...personal, id: first.id, scopes: ['profile:read', 'billing:read'] },
      {
        ...common,
        createdAt,
        id: second.id,
        audience: 'team',
        resource: 'api',
        team: { id: team.id, name: 'Night Owls' },
        scopes: ['teams:read'],
      },
    ].toSorted((one, other) => (one.id < other.id ? 1 : -1));
    expect(listed).toEqual([...expected, { ...personal, id: third.id, scopes: ['teams:read'] }]);
  });

  // Guarantees that a grant for a team does not look as if it reached the account.
  test('shows the scopes that are enforced', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const grant = await api.aGrant(account, { team, scopes: SCOPES });

    const [listed] = await (await as(api, account)).grants.list.query();

    expect(listed?.scopes).toEqual([
      'teams:read',
      'teams:write',
      'members:read',
      'members:write',
      'invites:write',
      'billing:read',
    ]);
    expect((await api.as(grant).get('/api/v1/credential')).body.scopes).toEqual(listed?.scopes);
  });

  test.for([{ active: false }, { expiresAt: new Date(0) }])(
    'shows a grant whose membership is %j',
    async (terms, { api }) => {
      const account = await api.anAccount();
      const team = await api.aTeam({ owner: await api.anAccount() });
      await api.aMember(team, account, terms);
      const grant = await api.aGrant(account, { team });

      expect(await (await as(api, account)).grants.list.query()).toMatchObject([
        { id: grant.id, team: { id: team.id } },
      ]);
    },
  );
});

describe('who may see and change grants', () => {
  // Guarantees that no application learns of others, or gives itself more time, by what it was allowed.
  test('requires a user session, not a key or grant with every scope', async ({ api }) => {
    const { account, grant, grantId } = await aScene(api, { scopes: SCOPES });
    const before = await rowOf(api, grant);

    for (const credential of [grant, await api.anApiKey(account, { scopes: SCOPES })]) {
      const { grants } = withKey(api, credential);
      expect(await outcomeOf(grants.list.query())).toBe('session_required');
      expect(await outcomeOf(grants.narrow.mutate({ grantId, scopes: ['teams:read'] }))).toBe('session_required');
      expect(await outcomeOf(grants.revoke.mutate({ grantId }))).toBe('session_required');
    }
    const { grants } = api.visitor().trpc;
    expect(await outcomeOf(grants.list.query())).toBe('credential_missing');
    expect(await outcomeOf(grants.narrow.mutate({ grantId, scopes: ['teams:read'] }))).toBe('credential_missing');
    expect(await outcomeOf(grants.revoke.mutate({ grantId }))).toBe('credential_missing');
    expect(await rowOf(api, grant)).toEqual(before);
  });

  // Guarantees that ids cannot be probed: unknown, expired and foreign ones get the same response.
  test('finds no unknown, ended or foreign grant, and changes nothing', async ({ api }) => {
    const { account, grants } = await aScene(api);
    const foreign = await api.aGrant(await api.anAccount(), { scopes: ['teams:read', 'profile:read'] });
    const revoked = await api.aGrant(account, { scopes: ['teams:read', 'profile:read'] });
    await api.rows('update oauth_grant set revoked_at = now() where id = $1', [revoked.id]);
    const expired = await api.aGrant(account, { scopes: ['teams:read', 'profile:read'], expiresAt: inMinutes(-1) });
    const before = await Promise.all([foreign, revoked, expired].map((grant) => rowOf(api, grant)));

    for (const grantId of [foreign.id, revoked.id, expired.id, 'nothing']) {
      for (const scopes of [['teams:read'], ['billing:read']] as Scope[][]) {
        expect(await outcomeOf(grants.narrow.mutate({ grantId, scopes }))).toBe('grant_not_found');
      }
      expect(await outcomeOf(grants.revoke.mutate({ grantId }))).toBe('grant_not_found');
    }
    expect(await Promise.all([foreign, revoked, expired].map((grant) => rowOf(api, grant)))).toEqual(before);
    for (const grant of [foreign, revoked, expired]) expect(audited(api, grant)).toEqual([]);
    expect((await api.as(foreign).get('/api/v1/credential')).status).toBe(200);
  });
});

describe('grants.narrow', () => {
  test('takes scopes away, merges duplicates, and keeps the order of the specification', async ({ api }) => {
    const { account, grant, grantId, grants } = await aScene(api, {
      scopes: ['profile:read', 'teams:read', 'members:read'],
    });

    const narrowed = await grants.narrow.mutate({ grantId, scopes: ['members:read', 'profile:read', 'members:read'] });

    expect(narrowed).toMatchObject({ id: grantId, scopes: ['profile:read', 'members:read'] });
    expect(await grants.list.query()).toEqual([narrowed]);
    expect(await rowOf(api, grant)).toMatchObject({
      scopes: ['profile:read', 'members:read'],
      narrowed_at: expect.any(String),
    });
    expect(audited(api, grant)).toEqual([
      {
        audit: 'oauth_grant.reduced',
        accountId: account.id,
        clientId: grant.clientId,
        grantId,
        teamId: null,
        scopes: ['profile:read', 'members:read'],
      },
    ]);
  });

  // Guarantees that tokens which exist obey, and that what was never in a token does not come in by the grant.
  test('applies to the tokens that were issued before', async ({ api }) => {
    const { grant, grantId, grants } = await aScene(api, {
      scopes: ['profile:read', 'teams:read', 'members:read'],
      tokenScopes: ['profile:read', 'teams:read'],
    });

    await grants.narrow.mutate({ grantId, scopes: ['teams:read', 'members:read'] });

    expect((await api.as(grant).get('/api/v1/credential')).body.scopes).toEqual(['teams:read']);
    expect(await api.as(grant).get('/api/v1/me')).toBeProblem('scope_missing');
  });

  test('to what it holds already changes nothing', async ({ api }) => {
    const { grant, grantId, grants } = await aScene(api, { scopes: ['profile:read', 'teams:read'] });

    const same = await grants.narrow.mutate({ grantId, scopes: ['teams:read', 'profile:read', 'teams:read'] });

    expect(same.scopes).toEqual(['profile:read', 'teams:read']);
    expect(await rowOf(api, grant)).toEqual({
      scopes: ['profile:read', 'teams:read'],
      narrowed_at: null,
      revoked_at: null,
    });
    expect(audited(api, grant)).toEqual([]);
  });

  test('of one for a team never leaves only account-only scopes', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const grant = await api.aGrant(account, { team, scopes: ['profile:read', 'teams:read', 'members:read'] });
    const { grants } = await as(api, account);

    expect(await problemOf(grants.narrow.mutate({ grantId: grant.id, scopes: ['profile:read'] }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/scopes/0', code: 'invalid_value' }],
    });
    expect((await rowOf(api, grant))?.narrowed_at).toBeNull();
    expect((await grants.narrow.mutate({ grantId: grant.id, scopes: ['teams:read'] })).scopes).toEqual(['teams:read']);
    expect((await rowOf(api, grant))?.scopes).toEqual(['teams:read']);
    expect(audited(api, grant)).toMatchObject([{ audit: 'oauth_grant.reduced', teamId: team.id }]);
  });

  // Guarantees that no scope comes into a grant but by consent.
  test('rejects each scope that the grant does not hold, by its position', async ({ api }) => {
    const { grant, grantId, grants } = await aScene(api, { scopes: ['profile:read', 'teams:read'] });
    const before = await rowOf(api, grant);

    const refusal = await problemOf(
      grants.narrow.mutate({ grantId, scopes: ['billing:read', 'teams:read', 'teams:write'] }),
    );

    expect(refusal).toMatchObject({
      code: 'validation_failed',
      errors: [
        { in: 'body', pointer: '/scopes/0', code: 'invalid_value' },
        { in: 'body', pointer: '/scopes/2', code: 'invalid_value' },
      ],
    });
    expect(await rowOf(api, grant)).toEqual(before);
    expect(audited(api, grant)).toEqual([]);
  });

  test.for([
    [[], '/scopes', 'min_length'],
    [undefined, '/scopes', 'required'],
    ['teams:read', '/scopes', 'invalid_type'],
    [['teams:read', 'everything'], '/scopes/1', 'invalid_value'],
    [Array(11).fill('teams:read'), '/scopes', 'max_length'],
  ] as const)('refuses the scopes %j', async ([scopes, pointer, code], { api }) => {
    const { grant, grantId, grants } = await aScene(api, { scopes: ['profile:read', 'teams:read'] });
    const before = await rowOf(api, grant);

    // What the types of the client would not allow.
    const input = { grantId, scopes } as unknown as Parameters<typeof grants.narrow.mutate>[0];

    expect(await problemOf(grants.narrow.mutate(input))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer, code }],
    });
    expect(await rowOf(api, grant)).toEqual(before);
  });

  // Guarantees that of two concurrent reductions neither restores what the other removed.
  test('concurrently from two sides never restores anything', async ({ api }) => {
    const { account, grant, grantId, grants } = await aScene(api, {
      scopes: ['profile:read', 'teams:read', 'members:read'],
    });
    const other = (await as(api, account)).grants;

    const outcomes = await tally([
      grants.narrow.mutate({ grantId, scopes: ['profile:read', 'teams:read'] }),
      other.narrow.mutate({ grantId, scopes: ['teams:read', 'members:read'] }),
    ]);

    expect(outcomes).toEqual({ done: 1, validation_failed: 1 });
    expect((await rowOf(api, grant))?.scopes).toHaveLength(2);
  });
});

describe('grants.revoke', () => {
  test('revokes the tokens of the grant, once, and none of other grants', async ({ api }) => {
    const { account, grant, grantId, grants } = await aScene(api);
    const other = await api.aGrant(account, { client: { id: grant.clientId } });
    const foreign = await api.aGrant(await api.anAccount(), { client: { id: grant.clientId } });

    expect(await grants.revoke.mutate({ grantId })).toEqual({ success: true });

    isRefused(await api.as(grant).get('/api/v1/credential'));
    for (const each of [other, foreign]) expect((await api.as(each).get('/api/v1/credential')).status).toBe(200);
    expect((await grants.list.query()).map(({ id }) => id)).toEqual([other.id]);
    expect(await outcomeOf(grants.revoke.mutate({ grantId }))).toBe('grant_not_found');
    expect(audited(api, grant)).toEqual([
      {
        audit: 'oauth_grant.revoked',
        accountId: account.id,
        clientId: grant.clientId,
        grantId,
        teamId: null,
        reason: 'by the account',
      },
    ]);
  });

  test('of 8 concurrent calls exactly one revokes, and is recorded', async ({ api, replica }) => {
    const { account, grant, grantId } = await aScene(api);
    const people = await Promise.all([api, replica].map((at) => as(at, account)));

    const calls = Array.from({ length: 4 }, () => people.map(({ grants }) => grants.revoke.mutate({ grantId })));

    expect(await tally(calls.flat())).toEqual({ done: 1, grant_not_found: 7 });
    expect([api, replica].flatMap((at) => audited(at, grant))).toHaveLength(1);
  });
});

describe('on every replica', () => {
  /** Calls on both while something changes. @returns how the calls ended that began after it was done. */
  async function around(apis: readonly Api[], grant: AGrant, path: string, change: () => Promise<unknown>) {
    const after: string[] = [];
    let isDone = false;
    let calls = 0;
    const lane = async (at: Api) => {
      for (let left = 10; left > 0; calls += 1) {
        const isAfter = isDone;
        const { status, body } = await at.as(grant).get(path);
        if (!isAfter) continue;
        left -= 1;
        after.push(status === 200 ? 'done' : (body.code as string));
      }
    };
    const lanes = Promise.all([...apis, ...apis].map(lane));
    await expect.poll(() => calls, { interval: 1 }).toBeGreaterThan(10);
    await change();
    isDone = true;
    await lanes;
    return new Set(after);
  }

  test('no call that begins after a reduction uses the removed scopes', async ({ api, replica }) => {
    const { account, grant, grantId } = await aScene(api, { scopes: ['profile:read', 'teams:read'] });
    const { grants } = await as(replica, account);

    const outcomes = await around([api, replica], grant, '/api/v1/teams', () =>
      grants.narrow.mutate({ grantId, scopes: ['profile:read'] }),
    );

    expect(outcomes).toEqual(new Set(['scope_missing']));
    expect((await api.as(grant).get('/api/v1/me')).status).toBe(200);
  });

  test('no call that begins after a revocation gets in', async ({ api, replica }) => {
    const { account, grant, grantId } = await aScene(api);
    const { grants } = await as(replica, account);

    const outcomes = await around([api, replica], grant, '/api/v1/teams', () => grants.revoke.mutate({ grantId }));

    expect(outcomes).toEqual(new Set(['credential_invalid']));
  });
});

describe('what is noted of a use', () => {
  // Guarantees that lastUsedAt is kept although no call writes it.
  test('is the minute, by the next flush, only for the grant of the token', async ({ api }) => {
    const { account, grant, grantId, grants } = await aScene(api);
    const idle = await api.aGrant(account);
    await api.rows(`update oauth_grant set created_at = created_at - interval '1 hour' where id = $1`, [grantId]);

    await api.as(grant).get('/api/v1/credential');
    const before = await grants.list.query();
    await api.usage.flush();

    expect(before.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, null]);
    const used = new Map((await grants.list.query()).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    expect(used.get(grantId)).toMatch(/:00\.000Z$/);
    expect(Math.abs(Date.now() - Date.parse(used.get(grantId) ?? ''))).toBeLessThan(120_000);
    expect(used.get(idle.id)).toBeNull();
  });

  // Guarantees that the response to a refresh is repeated only until its token is used, at no cost to other tokens.
  test('is the first time of a token that was just refreshed, and of no other', async ({ api }) => {
    const account = await api.anAccount();
    const made = async (gty: string, age: string) => {
      const grant = await api.aGrant(account);
      await api.rows(
        'update oauth_token set payload = $2, created_at = now() - $3::interval where grant_id = $1 and kind = $4',
        [grant.id, JSON.stringify({ gty }), age, 'access'],
      );
      return grant;
    };
    const fresh = await made('authorization_code refresh_token', '1 second');
    const others = [
      await made('authorization_code refresh_token', '601 seconds'),
      await made('authorization_code', '1 second'),
      await made('refresh_token authorization_code', '1 second'),
    ];
    const unused = await made('authorization_code refresh_token', '1 second');
    const usedAt = async ({ id }: AGrant) =>
      (await api.rows<{ used_at: string | null }>('select used_at from oauth_token where grant_id = $1', [id]))[0]
        ?.used_at;

    for (const grant of [fresh, ...others]) await api.as(grant).get('/api/v1/credential');
    await api.usage.flush();

    const first = await usedAt(fresh);
    expect(first).toEqual(expect.any(String));
    for (const grant of [...others, unused]) expect(await usedAt(grant)).toBeNull();
    await api.as(fresh).get('/api/v1/credential');
    await api.usage.flush();
    expect(await usedAt(fresh)).toBe(first);
  });
});
