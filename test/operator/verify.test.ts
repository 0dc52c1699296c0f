import { describe, expect, test as plain } from 'vitest';
import { SCOPES, type OperatorScope } from '../../src/entities/index.ts';
import { startApi, testWith, type Api } from '../support/api.ts';

const VERIFY = '/operator/v1/credentials/verify';
const test = testWith(() => startApi({ RATE_LIMIT: '2' }));

/** What an unknown credential gets. */
const NOTHING = {
  valid: false,
  code: 'credential_invalid',
  credential: null,
  account: null,
  team: null,
  role: null,
  permissions: [],
  rate: null,
};

type Asked = Readonly<Record<string, unknown>>;

async function anOperator(api: Api, scopes: readonly OperatorScope[] = ['credentials:verify']) {
  const caller = api.as(await api.anOperatorKey({ scopes }));
  return async (credential: { secret: string } | string, asked: Asked = {}) => {
    const secret = typeof credential === 'string' ? credential : credential.secret;
    const answer = await caller.post(VERIFY, { credential: secret, ...asked });
    expect([answer.status, answer.body.code]).toEqual([200, answer.body.code]);
    return answer.body;
  };
}

async function aSessionToken(api: Api, account: { id: string }): Promise<{ id: string; secret: string }> {
  const { secret, hash } = api.services.tokens.generate('session');
  const { id } = await api.aSession(account);
  await api.rows('update session set token_hash = $2 where id = $1', [id, hash]);
  return { id, secret };
}

/** A member of a team with one credential of each kind. */
async function aMember(api: Api) {
  const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam();
  await api.aMember(team, account, { role: 'member' });
  const scopes = ['teams:read', 'members:read'] as const;
  return {
    account,
    team,
    personalKey: await api.anApiKey(account, { scopes }),
    teamKey: await api.anApiKey(account, { scopes, team }),
    grant: await api.aGrant(account, { scopes: SCOPES, tokenScopes: scopes }),
    teamGrant: await api.aGrant(account, { scopes: ['teams:read', 'profile:read'], team }),
    session: await aSessionToken(api, account),
  };
}
type Member = Awaited<ReturnType<typeof aMember>>;

describe('a valid credential', () => {
  test('of each kind is described with its account, team, role and permissions', async ({ api }) => {
    const verify = await anOperator(api);
    const { account, team, personalKey, teamKey, grant, teamGrant, session } = await aMember(api);
    const person = { id: account.id, email: account.email, firstName: 'Ada', lastName: 'Lovelace', externalId: null };
    const inTeam = {
      team: { id: team.id, name: team.name, slug: team.slug },
      role: { id: 'member', name: 'Member' },
      permissions: ['access_dashboard'],
    };
    const nowhere = { team: null, role: null, permissions: [] };
    const common = { valid: true, code: null, account: person, rate: null };
    const scopes = ['teams:read', 'members:read'];
    const ofKey = {
      kind: 'api-key',
      scopes,
      expiresAt: null,
      grantId: null,
      clientId: null,
      resource: null,
      thumbprint: null,
    };
    const ofGrant = { kind: 'oauth-grant', expiresAt: expect.any(String), resource: 'api', thumbprint: null };

    expect(await verify(personalKey)).toEqual({
      ...common,
      ...nowhere,
      credential: { ...ofKey, id: personalKey.id, audience: 'personal', teamId: null },
    });
    expect(await verify(personalKey, { teamId: team.id })).toMatchObject({ ...common, ...inTeam });
    expect(await verify(teamKey)).toEqual({
      ...common,
      ...inTeam,
      credential: { ...ofKey, id: teamKey.id, audience: 'team', teamId: team.id },
    });
    expect(await verify(grant, { teamId: team.id })).toEqual({
      ...common,
      ...inTeam,
      credential: {
        ...ofGrant,
        scopes,
        id: grant.id,
        audience: 'personal',
        teamId: null,
        grantId: grant.id,
        clientId: grant.clientId,
      },
    });
    // An account-only scope is never enforced for a team.
    expect(await verify(teamGrant)).toMatchObject({
      ...inTeam,
      credential: { audience: 'team', teamId: team.id, scopes: ['teams:read'] },
    });
    expect(await verify(session)).toEqual(NOTHING);
    expect(await verify(session, { kinds: ['session'], teamId: team.id })).toMatchObject({
      ...common,
      ...inTeam,
      credential: { kind: 'session', id: session.id, audience: 'personal', scopes: SCOPES, clientId: null },
    });
    expect(await verify(personalKey, { kinds: ['oauth-grant', 'session'] })).toEqual(NOTHING);
  });

  test('that lacks what the request needs says what, in the order of the API', async ({ api }) => {
    const verify = await anOperator(api);
    const { team, personalKey, teamKey, teamGrant } = await aMember(api);
    const other = await api.aTeam({ owner: await api.anAccount() });
    const all = { teamId: other.id, scopes: ['teams:write'], permission: 'remove_members' };
    const codeOf = async (credential: { secret: string }, asked: Asked) => {
      const { valid, code, account } = await verify(credential, asked);
      expect([valid, account === null]).toEqual([code === null, false]);
      return code as string | null;
    };

    expect(await codeOf(personalKey, all)).toBe('scope_missing');
    expect(await codeOf(personalKey, { ...all, scopes: ['teams:read'] })).toBe('team_not_found');
    expect(await codeOf(personalKey, { ...all, scopes: [], teamId: 'unknown' })).toBe('team_not_found');
    expect(await codeOf(personalKey, { permission: 'access_dashboard' })).toBe('team_not_found');
    expect(await codeOf(personalKey, { ...all, scopes: [], teamId: team.id })).toBe('permission_missing');
    expect(await codeOf(personalKey, { teamId: team.id, permission: 'access_dashboard' })).toBe(null);
    for (const credential of [teamKey, teamGrant]) {
      expect(await codeOf(credential, { permission: 'access_dashboard' })).toBe(null);
      expect(await codeOf(credential, { permission: 'remove_members' })).toBe('permission_missing');
    }
    expect(await codeOf(teamKey, { teamId: other.id })).toBe('team_not_found');
  });

  test('that is a team credential cannot reach another team of its account', async ({ api }) => {
    const verify = await anOperator(api);
    const { account, teamKey, teamGrant } = await aMember(api);
    const other = await api.aTeam({ owner: account });
    for (const credential of [teamKey, teamGrant])
      expect(await verify(credential, { teamId: other.id })).toMatchObject({
        valid: false,
        code: 'team_not_found',
        team: null,
        role: null,
        permissions: [],
      });
  });

  test('is described in the team of an external id, whose members alone it reaches', async ({ api }) => {
    const verify = await anOperator(api);
    const { team, personalKey, teamKey, teamGrant } = await aMember(api);
    const other = await api.aTeam({ owner: await api.anAccount() });
    const externalId = Array.from(`é%_\\ ${other.id}${'𝒳'.repeat(255)}`)
      .slice(0, 255)
      .join('');
    await api.rows(`update team set external_id = 'T-4711' where id = $1`, [team.id]);
    await api.rows('update team set external_id = $2 where id = $1', [other.id, externalId]);

    for (const credential of [personalKey, teamKey, teamGrant])
      expect(await verify(credential, { teamId: 'ext:T-4711' })).toMatchObject({ valid: true, team: { id: team.id } });
    await api.rows(
      `insert into membership (id, team_id, account_id, role_id, is_active, joined_at, created_at)
      select 'mem_' || $1, $1, account_id, 'member', true, now(), now() from api_key where id = $2`,
      [other.id, personalKey.id],
    );
    expect(await verify(personalKey, { teamId: `ext:${externalId}` })).toMatchObject({ team: { id: other.id } });
    for (const [credential, teamId] of [
      [teamKey, `ext:${externalId}`],
      [teamGrant, `ext:${externalId}`],
      [personalKey, 'ext:t-4711'],
      [personalKey, 'ext:unknown'],
      [personalKey, 'ext:'],
      [teamKey, 'ext:unknown'],
      [teamKey, `ext:${team.id}`],
    ] as const)
      expect(await verify(credential, { teamId })).toMatchObject({ code: 'team_not_found', team: null, role: null });
  });

  test('is charged only if asked, in the window that its own requests use', async ({ api }) => {
    const verify = await anOperator(api);
    const { personalKey } = await aMember(api);
    for (let i = 0; i < 3; i += 1) expect((await verify(personalKey)).rate).toBeNull();

    const own = await api.as(personalKey).get('/api/v1/credential');
    expect(own.headers['ratelimit-remaining']).toBe('1');
    expect(await verify(personalKey, { charge: true })).toMatchObject({
      valid: true,
      rate: { limit: 2, remaining: 0 },
    });
    expect(await verify(personalKey, { charge: true })).toMatchObject({
      valid: false,
      code: 'rate_limited',
      account: expect.any(Object),
      rate: { limit: 2, remaining: 0 },
    });
    expect(await verify(personalKey)).toMatchObject({ valid: true });
    expect((await api.as(personalKey).get('/api/v1/credential')).status).toBe(429);
  });

  test('is noted as used, and an operator’s look at an invalid one is not', async ({ api }) => {
    const verify = await anOperator(api);
    const { personalKey, teamKey } = await aMember(api);
    await verify(personalKey);
    await verify(teamKey, { kinds: ['session'] });
    await api.usage.flush();
    const used = await api.rows<{ id: string }>(
      'select id from api_key where id in ($1, $2) and last_used_at is not null',
      [personalKey.id, teamKey.id],
    );
    expect(used).toEqual([{ id: personalKey.id }]);
  });

  test('is for the resource that was named', async ({ api }) => {
    const verify = await anOperator(api);
    const { grant, personalKey } = await aMember(api);
    await api.rows(`update oauth_grant set resource = 'mcp' where id = $1`, [grant.id]);
    expect((await verify(grant)).credential.resource).toBe('mcp');
    expect(await verify(grant, { resource: 'api' })).toEqual(NOTHING);
    expect((await verify(grant, { resource: 'mcp' })).valid).toBe(true);
    expect((await verify(personalKey, { resource: 'mcp' })).valid).toBe(true);
  });
});

/** Everything that ends a credential, for each kind. The statement gets the id of the credential and of the account. */
// A second ago: times are stored in milliseconds, rounded up as well as down.
const ENDINGS: Readonly<Record<string, readonly [name: string, sql: string][]>> = {
  personalKey: [
    ['revoked', `update api_key set revoked_at = now() where id = $1 and $2 <> ''`],
    ['expired', `update api_key set expires_at = now() - interval '1 second' where id = $1 and $2 <> ''`],
    [
      'of a secret that was rotated away',
      `update api_key_secret set expires_at = now() - interval '1 second' where api_key_id = $1 and $2 <> ''`,
    ],
    ['of a deleted key', `delete from api_key where id = $1 and $2 <> ''`],
  ],
  teamKey: [['revoked', `update api_key set revoked_at = now() where id = $1 and $2 <> ''`]],
  teamGrant: [['revoked', `update oauth_grant set revoked_at = now() where id = $1 and $2 <> ''`]],
  grant: [
    ['of a revoked grant', `update oauth_grant set revoked_at = now() where id = $1 and $2 <> ''`],
    [
      'of an expired grant',
      `update oauth_grant set expires_at = now() - interval '1 second' where id = $1 and $2 <> ''`,
    ],
    ['expired', `update oauth_token set expires_at = now() - interval '1 second' where grant_id = $1 and $2 <> ''`],
    [
      'of a deleted client',
      `update oauth_client set deleted_at = now() where id = (select client_id from oauth_grant where id = $1) and $2 <> ''`,
    ],
  ],
  session: [
    ['signed out', `update session set revoked_at = now() where id = $1 and $2 <> ''`],
    ['expired', `update session set expires_at = now() - interval '1 second' where id = $1 and $2 <> ''`],
    [
      'idle for too long',
      `update session set idle_expires_at = now() - interval '1 second' where id = $1 and $2 <> ''`,
    ],
  ],
};
const DISABLED = [
  'of a disabled account',
  `update account set disabled_at = now() where id = $2 and $1 <> ''`,
] as const;

describe('a credential that is', () => {
  const cases = Object.entries(ENDINGS).flatMap(([kind, endings]) =>
    [...endings, DISABLED].map(([ending, sql]) => [kind, ending, sql] as const),
  );

  test.for(cases)('%s, %s, is like an unknown one', async ([kind, , sql], { api }) => {
    const verify = await anOperator(api);
    const member = await aMember(api);
    const credential = member[kind as 'personalKey' | 'session']; // a key of ENDINGS
    const kinds = ['api-key', 'oauth-grant', 'session'];
    // With and without a team, which are different statements.
    const asked = [{ kinds, teamId: member.team.id }, { kinds }];
    for (const one of asked) expect((await verify(credential, one)).valid).toBe(true);
    await api.rows(sql, [credential.id, member.account.id]);
    for (const one of asked) expect(await verify(credential, one)).toEqual(NOTHING);
  });

  test('no credential at all is like an unknown one', async ({ api }) => {
    const verify = await anOperator(api);
    const { tokens } = api.services;
    const { personalKey } = await aMember(api);
    const kinds = ['api-key', 'oauth-grant', 'session'];
    const operatorKey = await api.anOperatorKey();
    for (const text of [
      'x',
      '’',
      tokens.generate('personalKey').secret,
      tokens.generate('accessToken').secret,
      tokens.generate('session').secret,
      tokens.generate('refreshToken').secret,
      operatorKey.secret,
      personalKey.id,
      `${personalKey.secret} `,
    ])
      expect([text, await verify(text, { kinds })]).toEqual([text, NOTHING]);
  });

  test('is answered no sooner than after 5 ms, so that the time of a look-up does not tell which', async ({ api }) => {
    const key = api.as(await api.anOperatorKey());
    const member = await aMember(api);
    const ended = await aMember(api);
    await api.rows('update api_key set revoked_at = now() where id = $1', [ended.personalKey.id]);
    for (const [credential, asked] of [
      [api.services.tokens.generate('personalKey').secret, {}],
      [ended.personalKey.secret, {}],
      [member.session.secret, {}],
      [member.grant.secret, { resource: 'mcp' }],
    ] as const)
      for (const path of [VERIFY, '/trpc/operatorApi.verifyCredential']) {
        const startedAt = performance.now();
        const { body } = await key.post(path, { credential, ...asked });
        // Timers count whole milliseconds.
        expect(performance.now() - startedAt).toBeGreaterThan(3.9);
        expect((body.result?.data ?? body).code).toBe('credential_invalid');
      }
  });

  test('a member’s until they are removed, deactivated or over, reaches no team', async ({ api }) => {
    const verify = await anOperator(api);
    for (const sql of [
      'delete from membership where account_id = $1',
      'update membership set is_active = false where account_id = $1',
      `update membership set expires_at = now() - interval '1 second' where account_id = $1`,
    ]) {
      const { account, team, personalKey, teamKey, teamGrant } = await aMember(api);
      await api.rows(sql, [account.id]);
      for (const credential of [personalKey, teamKey, teamGrant])
        expect(await verify(credential, { teamId: team.id })).toMatchObject({ code: 'team_not_found', team: null });
      for (const credential of [teamKey, teamGrant]) {
        expect(await verify(credential)).toMatchObject({ valid: true, team: null, role: null, permissions: [] });
        expect(await verify(credential, { permission: 'access_dashboard' })).toMatchObject({ code: 'team_not_found' });
      }
    }
  });
});

test.for<[unknown, string, string]>([
  [{}, '/credential', 'required'],
  [{ credential: '' }, '/credential', 'min_length'],
  [{ credential: 7 }, '/credential', 'invalid_type'],
  [{ credential: 'x'.repeat(501) }, '/credential', 'max_length'],
  [{ credential: 'x\u0000' }, '/credential', 'invalid_format'],
  [{ credential: 'x', kinds: [] }, '/kinds', 'min_length'],
  [{ credential: 'x', kinds: ['password'] }, '/kinds/0', 'invalid_value'],
  [{ credential: 'x', kinds: 7 }, '/kinds', 'invalid_type'],
  [{ credential: 'x', teamId: '' }, '/teamId', 'min_length'],
  [{ credential: 'x', teamId: null }, '/teamId', 'invalid_type'],
  [{ credential: 'x', teamId: 'x'.repeat(256) }, '/teamId', 'max_length'],
  [{ credential: 'x', teamId: `ext:${'x'.repeat(256)}` }, '/teamId', 'max_length'],
  [{ credential: 'x', teamId: '\ud800' }, '/teamId', 'invalid_format'],
  [{ credential: 'x', scopes: ['everything'] }, '/scopes/0', 'invalid_value'],
  [{ credential: 'x', permission: 'everything' }, '/permission', 'invalid_format'],
  [{ credential: 'x', permissions: ['invoices:read', 'Invoices'] }, '/permissions/1', 'invalid_format'],
  [{ credential: 'x', resource: 'web' }, '/resource', 'invalid_value'],
  [{ credential: 'x', charge: 'yes' }, '/charge', 'invalid_type'],
])('%j is a 400 at %s', async ([body, pointer, code], { api }) => {
  const answer = await api.as(await api.anOperatorKey()).post(VERIFY, body);
  expect([answer.status, answer.body.errors]).toEqual([400, [expect.objectContaining({ in: 'body', pointer, code })]]);
});

test('the same is answered over /trpc, where the credential is in the body', async ({ api }) => {
  const { personalKey } = await aMember(api);
  const key = api.as(await api.anOperatorKey({ scopes: ['credentials:verify'] }));
  const { body } = await key.post('/trpc/operatorApi.verifyCredential', { credential: personalKey.secret });
  expect(body.result.data).toMatchObject({ valid: true, credential: { id: personalKey.id } });
  expect((await key.get('/trpc/operatorApi.verifyCredential')).status).toBe(405);
});

const limited = testWith(() => startApi({ OPERATOR_VERIFY_LIMIT: '2', OPERATOR_RATE_LIMIT: '3' }));

limited('its limit is its own, and other operations have theirs', async ({ api }) => {
  const key = api.as(await api.anOperatorKey());
  const statuses = async (count: number, call: () => Promise<{ status: number }>) => {
    const all: number[] = [];
    for (let i = 0; i < count; i += 1) all.push((await call()).status);
    return all;
  };
  expect(await statuses(3, () => key.post(VERIFY, { credential: 'x' }))).toEqual([200, 200, 429]);
  expect(await statuses(4, () => key.get('/operator/v1/operator-keys'))).toEqual([200, 200, 200, 429]);
});

plain('a revocation on one replica is seen by the next call on another', async () => {
  const one = await startApi();
  const other = await startApi({}, one);
  try {
    const verify = await anOperator(other);
    for (let i = 0; i < 20; i += 1) {
      const { account, personalKey, teamKey, team } = (await aMember(one)) satisfies Member;
      const manager = one.as(await one.anApiKey(account, { scopes: ['api-keys:write', 'api-keys:read'] }));
      expect((await verify(personalKey)).valid).toBe(true);
      expect((await manager.delete(`/api/v1/api-keys/${personalKey.id}`)).status).toBe(200);
      expect(await verify(personalKey)).toEqual(NOTHING);
      expect((await manager.patch(`/api/v1/api-keys/${teamKey.id}`, { scopes: ['teams:read'] })).status).toBe(403);
      expect((await verify(teamKey, { teamId: team.id })).valid).toBe(true);
    }
  } finally {
    await other.close();
    await one.close();
  }
});
