import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

const DAY_MS = 86_400_000;

test('a key is never last used before it was created', async ({ api }) => {
  const keys = {
    api_key: await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] }),
    operator_key: await api.anOperatorKey(),
  };
  // Uses are noted to the minute, in which both were created.
  const late = `date_trunc('minute', now()) + interval '59.9 seconds'`;
  for (const [table, { id }] of Object.entries(keys))
    await api.rows(`update ${table} set created_at = ${late} where id = $1`, [id]);

  await api.as(keys.api_key).get('/api/v1/teams');
  await api.as(keys.operator_key).get('/operator/v1/teams');
  await api.usage.flush();

  for (const [table, { id }] of Object.entries(keys)) {
    const sql = `select last_used_at >= created_at as is_after from ${table} where id = $1`;
    expect(await api.rows(sql, [id]), table).toEqual([{ is_after: true }]);
  }
});

describe('createApiKey', () => {
  test('201: a personal key that works, its secret only in this response', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'api-keys:read', 'teams:read'] });

    const { status, body } = await api.as(key).post('/api/v1/api-keys', {
      name: 'CI',
      scopes: ['teams:read', 'api-keys:read', 'teams:read'],
      expiresInDays: 30,
    });

    expect(status).toBe(201);
    expect(body.secret).toMatch(/^rst_pk_[0-9A-Za-z]{49}$/);
    expect(body.key).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'CI',
      keyPrefix: body.secret.slice(0, 'rst_pk_'.length + 6),
      last4: body.secret.slice(-4),
      scopes: ['teams:read', 'api-keys:read'],
      teamId: null,
      createdAt: expect.any(String),
      lastUsedAt: null,
      expiresAt: expect.any(String),
    });
    expect(Date.parse(body.key.expiresAt) - Date.parse(body.key.createdAt)).toBeCloseTo(30 * DAY_MS, -4);
    expect((await api.as(body.secret).get('/api/v1/credential')).body.scopes).toEqual(['teams:read', 'api-keys:read']);
    const list = await api.as(key).get('/api/v1/api-keys');
    expect(list.body).toContainEqual(body.key);
    expect(list.text).not.toContain(body.secret);
  });

  // Guarantees that a dump of the database holds nothing that works as a key.
  test('only the SHA-256 of a secret is stored', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['api-keys:write'] });
    const { secret } = (await api.as(key).post('/api/v1/api-keys', { name: 'x', scopes: ['api-keys:write'] })).body;

    const dump = await api.rows<{ row: string }>(
      `select to_jsonb(k)::text || to_jsonb(s)::text as row from api_key k join api_key_secret s on s.api_key_id = k.id`,
    );

    expect(dump.filter(({ row }) => row.includes(secret.slice(13)))).toEqual([]);
  });

  test('201: a team key for a team the caller manages keys of', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:write', 'teams:read'] });

    const { body } = await api
      .as(key)
      .post('/api/v1/api-keys', { name: 'bot', scopes: ['teams:read'], teamId: team.id });

    expect(body.secret).toMatch(/^rst_tk_/);
    expect(body.key.teamId).toBe(team.id);
    expect((await api.as(body.secret).get('/api/v1/credential')).body).toMatchObject({
      audience: 'team',
      team: { id: team.id },
    });
  });

  test('403: scopes the caller lacks, and account-only ones on a team key, are named', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:write', 'profile:read'] });
    const create = (body: object) => api.as(key).post('/api/v1/api-keys', { name: 'x', ...body });

    const notHeld = await create({ scopes: ['teams:write', 'profile:read', 'teams:read'] });
    expect(notHeld).toBeProblem('scope_not_allowed');
    expect(notHeld.body.detail).toContain('teams:read, teams:write');
    expect(notHeld.body.detail).not.toContain('profile:read');

    const accountOnly = await create({ scopes: ['profile:read', 'billing:read'], teamId: team.id });
    expect(accountOnly).toBeProblem('scope_account_only');
    expect(accountOnly.body.detail).toContain('profile:read');
    expect(accountOnly.body.detail).not.toContain('billing:read');
    expect(await api.rows('select 1 from api_key where account_id = $1', [owner.id])).toHaveLength(1);
  });

  test('403: a scope that the grant of the calling token has, but not the token', async ({ api }) => {
    const account = await api.anAccount();
    const tokenScopes = ['api-keys:write' as const, 'teams:read' as const];
    const token = await api.aGrant(account, { scopes: [...tokenScopes, 'billing:read'], tokenScopes });
    const create = (scopes: string[]) => api.as(token).post('/api/v1/api-keys', { name: 'x', scopes });

    const refused = await create(['teams:read', 'billing:read']);
    expect(refused).toBeProblem('scope_not_allowed');
    expect(refused.body.detail).toContain('billing:read');
    expect(refused.body.detail).not.toContain('teams:read');

    expect((await create(['teams:read'])).status).toBe(201);
    expect(await api.rows('select 1 from api_key where account_id = $1', [account.id])).toHaveLength(1);
  });

  test('404 for a team the caller cannot see, 403 without manage_api_keys, both before the scopes', async ({ api }) => {
    const account = await api.anAccount();
    const foreign = await api.aTeam({ owner: await api.anAccount() });
    const joined = await api.aTeam();
    await api.aMember(joined, account, { role: 'member' });
    const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'api-keys:read'] });
    const body = { name: 'x', scopes: ['profile:read'] };

    expect(await api.as(key).post('/api/v1/api-keys', { ...body, teamId: foreign.id })).toBeProblem('team_not_found');
    expect(await api.as(key).post('/api/v1/api-keys', { ...body, teamId: joined.id })).toBeProblem(
      'permission_missing',
    );
    expect(await api.as(key).get(`/api/v1/api-keys?teamId=${foreign.id}`)).toBeProblem('team_not_found');
    expect(await api.as(key).get(`/api/v1/api-keys?teamId=${joined.id}`)).toBeProblem('permission_missing');
  });
});

describe('listApiKeys', () => {
  test('200: the caller’s personal keys, expired ones too, and neither revoked nor team keys', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const key = await api.anApiKey(account, { scopes: ['api-keys:read'] });
    const expired = await api.anApiKey(account, { expiresAt: new Date(Date.now() - 1000) });
    await api.anApiKey(account, { revoked: true });
    await api.anApiKey(account, { team });
    await api.anApiKey(await api.anAccount());

    const { body } = await api.as(key).get('/api/v1/api-keys');

    expect(body.map(({ id }: { id: string }) => id)).toEqual([key.id, expired.id]);
    expect(await api.as(expired).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });

  test('200: with teamId all keys of the team, of all creators', async ({ api }) => {
    const owner = await api.anAccount();
    const member = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aMember(team, member, { role: 'member' });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:read'] });
    const [mine, theirs] = [await api.anApiKey(owner, { team }), await api.anApiKey(member, { team })];
    await api.anApiKey(member, { team, revoked: true });

    const { body } = await api.as(key).get(`/api/v1/api-keys?teamId=${team.id}`);

    expect(body.map(({ id }: { id: string }) => id)).toEqual([mine.id, theirs.id]);
  });
});

describe('updateApiKey', () => {
  test('200: scopes are replaced for the next request, also for the calling key', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'teams:read', 'profile:read'] });

    const { status, body } = await api.as(key).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['teams:read'] });

    expect([status, body.scopes]).toEqual([200, ['teams:read']]);
    expect(await api.as(key).get('/api/v1/me')).toBeProblem('scope_missing');
    expect((await api.as(key).get('/api/v1/teams')).status).toBe(200);
  });

  test('403: beyond the caller’s own scopes, or account-only on a team key', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['api-keys:write', 'profile:read'] });
    const teamKey = await api.anApiKey(owner, { scopes: ['teams:read'], team });

    expect(await api.as(key).patch(`/api/v1/api-keys/${key.id}`, { scopes: ['teams:write'] })).toBeProblem(
      'scope_not_allowed',
    );
    expect(await api.as(key).patch(`/api/v1/api-keys/${teamKey.id}`, { scopes: ['profile:read'] })).toBeProblem(
      'scope_account_only',
    );
    expect((await api.as(teamKey).get('/api/v1/credential')).body.scopes).toEqual(['teams:read']);
  });

  test('404: revoked keys, other accounts’ keys and unknown ids, all the same', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['api-keys:write'] });
    const revoked = await api.anApiKey(account, { revoked: true });
    const foreign = await api.anApiKey(await api.anAccount());

    for (const id of [revoked.id, foreign.id, 'key_unknown']) {
      expect(await api.as(key).patch(`/api/v1/api-keys/${id}`, { scopes: ['api-keys:write'] })).toBeProblem(
        'api_key_not_found',
      );
      expect(await api.as(key).delete(`/api/v1/api-keys/${id}`)).toBeProblem('api_key_not_found');
    }
    expect((await api.as(foreign).get('/api/v1/credential')).status).toBe(200);
  });
});

describe('revokeApiKey', () => {
  // Guarantees that revocation is immediate, also for the key that asked for it (spec 4.20).
  test('200: the calling key stops working for the next request', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['api-keys:write'] });

    expect((await api.as(key).delete(`/api/v1/api-keys/${key.id}`)).body).toEqual({ success: true });
    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
  });
});
