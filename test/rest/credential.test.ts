import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test } from '../support/api.ts';

describe('getCredential', () => {
  test('200: a personal key reports its scopes in the order of the specification', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: SCOPES.toReversed() });

    expect((await api.as(key).get('/api/v1/credential')).body).toEqual({
      kind: 'api-key',
      audience: 'personal',
      team: null,
      scopes: [...SCOPES],
    });
  });

  test('200: a team key reports its team as an id only', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['billing:read'], team });

    expect((await api.as(key).get('/api/v1/credential')).body).toEqual({
      kind: 'api-key',
      audience: 'team',
      team: { id: team.id },
      scopes: ['billing:read'],
    });
  });

  test('200: a grant for the account reports its scopes in the order of the specification', async ({ api }) => {
    const grant = await api.aGrant(await api.anAccount(), { scopes: SCOPES.toReversed() });

    expect((await api.as(grant).get('/api/v1/credential')).body).toEqual({
      kind: 'oauth-grant',
      audience: 'personal',
      team: null,
      scopes: [...SCOPES],
    });
  });

  // Guarantees that what a grant for a team was issued for the account is enforced nowhere.
  test('200: a grant for a team reports its team as an id only, and no account-only scope', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const grant = await api.aGrant(owner, { scopes: SCOPES, team });

    expect((await api.as(grant).get('/api/v1/credential')).body).toEqual({
      kind: 'oauth-grant',
      audience: 'team',
      team: { id: team.id },
      scopes: ['teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read'],
    });
  });

  test('200: a token that was issued for fewer scopes than its grant has only those', async ({ api }) => {
    const grant = await api.aGrant(await api.anAccount(), {
      scopes: SCOPES,
      tokenScopes: ['billing:read', 'profile:read'],
    });

    expect((await api.as(grant).get('/api/v1/credential')).body.scopes).toEqual(['profile:read', 'billing:read']);
    expect(await api.as(grant).get('/api/v1/teams')).toBeProblem('scope_missing');
  });

  // Guarantees that a reduction of a grant applies to the next call with an earlier token.
  test('200: a token immediately loses the scopes that its grant loses, and gains none that it was not issued for', async ({
    api,
  }) => {
    const grant = await api.aGrant(await api.anAccount(), { scopes: ['profile:read', 'teams:read'] });
    expect((await api.as(grant).get('/api/v1/me')).status).toBe(200);

    await api.rows(`update oauth_grant set scopes = '{teams:read,billing:read}', narrowed_at = now() where id = $1`, [
      grant.id,
    ]);

    expect((await api.as(grant).get('/api/v1/credential')).body.scopes).toEqual(['teams:read']);
    expect(await api.as(grant).get('/api/v1/me')).toBeProblem('scope_missing');
    expect((await api.as(grant).get('/api/v1/teams')).status).toBe(200);
  });

  test('200: a grant that has no scope left reports none', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const grants = [
      await api.aGrant(owner, { scopes: ['profile:read', 'api-keys:write'], team }),
      await api.aGrant(owner, { scopes: ['billing:read'], tokenScopes: ['teams:read'] }),
    ];

    const answers = await Promise.all(grants.map((grant) => api.as(grant).get('/api/v1/credential')));

    expect(answers.map(({ status, body }) => [status, body.scopes])).toEqual([
      [200, []],
      [200, []],
    ]);
  });

  test('the scheme is case-insensitive', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    const headers = { authorization: `bEaReR ${secret}` };

    expect((await api.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers })).status).toBe(200);
  });

  // Guarantees that lastUsedAt is kept although no read writes.
  test('use of a key is noted to the minute and written by the next flush', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['api-keys:read'] });
    // A use in the minute of the creation is noted at the time of the creation.
    await api.rows(`update api_key set created_at = created_at - interval '1 hour' where account_id = $1`, [
      account.id,
    ]);

    await api.as(key).get('/api/v1/credential');
    await api.usage.flush();
    const [listed] = (await api.as(key).get('/api/v1/api-keys')).body;

    expect(listed.lastUsedAt).toMatch(/:00\.000Z$/);
    expect(Math.abs(Date.now() - Date.parse(listed.lastUsedAt))).toBeLessThan(120_000);
  });

  test('use of a token is noted for its grant likewise', async ({ api }) => {
    const grant = await api.aGrant(await api.anAccount());
    await api.rows(`update oauth_grant set created_at = created_at - interval '1 hour' where id = $1`, [grant.id]);

    await api.as(grant).get('/api/v1/credential');
    await api.usage.flush();

    const [row] = await api.rows<{ lastUsedAt: string }>(
      'select last_used_at as "lastUsedAt" from oauth_grant where id = $1',
      [grant.id],
    );
    const usedAt = Date.parse(row?.lastUsedAt ?? '');
    expect(usedAt % 60_000).toBe(0);
    expect(Math.abs(Date.now() - usedAt)).toBeLessThan(120_000);
  });
});
