import { expect } from 'vitest';
import { PERMISSIONS, SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { aFirstParty, firstPartyTokens } from './first-party-flow.ts';
import { post } from './flow.ts';

const ask = (api: Api, secret: string, form: string, more: Record<string, string> = {}) =>
  api.as(secret).send({
    method: 'POST',
    path: '/oauth/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...more },
    body: form,
  });

test('an operator key introspects keys and access tokens of everybody', async ({ api }) => {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account });
  const operator = (await api.anOperatorKey({ scopes: ['credentials:verify'] })).secret;
  const key = await api.anApiKey(account, { scopes: ['teams:read', 'members:read'], team });
  const grant = await api.aGrant(account, { scopes: ['teams:read'] });
  const common = { active: true, iss: 'http://localhost:3000', sub: account.id, username: account.email };

  const ofKey = await ask(api, operator, `token=${key.secret}`);
  expect(ofKey.body).toEqual({
    ...common,
    scope: 'teams:read members:read',
    token_type: 'Bearer',
    aud: ['http://localhost:3000/api/v1', 'http://localhost:3000/mcp'],
    team_id: team.id,
    permissions: expect.toSatisfy((held: string[]) => held.toSorted().join() === [...PERMISSIONS].toSorted().join()),
  });
  expect(ofKey.headers['cache-control']).toBe('no-store');
  expect((await ask(api, operator, `token=${grant.secret}&token_type_hint=access_token`)).body).toMatchObject({
    ...common,
    scope: 'teams:read',
    client_id: grant.clientId,
    aud: 'http://localhost:3000/api/v1',
    exp: expect.any(Number),
  });

  await api.rows('update api_key set revoked_at = now() where id = $1', [key.id]);
  for (const token of [key.secret, 'x', operator, api.services.tokens.generate('personalKey').secret]) {
    const startedAt = performance.now();
    expect((await ask(api, operator, `token=${token}`)).body).toEqual({ active: false });
    // The time of a look-up does not tell which. Timers count whole milliseconds.
    expect(performance.now() - startedAt).toBeGreaterThan(3.9);
  }
  for (const form of ['', 'token=', 'token=x&token=y'])
    expect((await ask(api, operator, form)).body.error).toBe('invalid_request');
  const compressed = await ask(api, operator, 'token=x', { 'content-encoding': 'gzip' });
  expect([compressed.status, compressed.body.error]).toEqual([415, 'invalid_request']);
});

// Guarantees that standard software decides as who calls `verify` does.
test('permissions are those of verify: of the product, within what the credential is limited to', async ({ api }) => {
  await declarePermissions(api, [
    { name: 'invoices:read', roles: ['member'], keys: true },
    { name: 'invoices:write', roles: ['member'], keys: true },
  ]);
  const [owner, member] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner });
  await api.aMember(team, member, { role: 'member' });
  const operator = await api.anOperatorKey();
  const key = await api.anApiKey(member, { scopes: ['teams:read'], team });
  await api.rows(`update api_key set product_permissions = '{invoices:read}' where id = $1`, [key.id]);
  const grant = await api.aGrant(member, { scopes: ['teams:read'], team });
  const scene = await aFirstParty(api);
  await api.aMember(team, scene.account, { role: 'member' });
  const first = await firstPartyTokens(api, scene, { team: team.id });
  const personal = await api.anApiKey(member, { scopes: ['teams:read'] });

  const answers = async (secret: string) => {
    const { body } = await ask(api, operator.secret, `token=${secret}`);
    const verified = await api.as(operator).post('/operator/v1/credentials/verify', { credential: secret });
    expect(body.permissions ?? []).toEqual(verified.body.permissions);
    expect(body.team_id).toBe(verified.body.team?.id);
    return body.permissions;
  };
  expect(await answers(key.secret)).toEqual(['access_dashboard', 'invoices:read']);
  expect(await answers(grant.secret)).toEqual(['access_dashboard']);
  expect(await answers(first.access)).toEqual(['access_dashboard', 'invoices:read', 'invoices:write']);
  expect(await answers(personal.secret)).toBeUndefined();
  // Without any scope, a key or grant is for the product alone, and has nothing of Roster.
  await api.rows(`update api_key set scopes = '{}' where id = $1`, [key.id]);
  expect(await answers(key.secret)).toEqual(['invoices:read']);
  await api.rows(`update oauth_token set scopes = '{}' where grant_id = $1`, [grant.id]);
  await api.rows(`update oauth_grant set product_permissions = '{invoices:read}' where id = $1`, [grant.id]);
  expect(await answers(grant.secret)).toEqual(['invoices:read']);

  const own = await post(api, '/oauth/introspect', scene.client, { token: first.access });
  expect(own.body).toMatchObject({ active: true, team_id: team.id, permissions: await answers(first.access) });
  const refresh = await post(api, '/oauth/introspect', scene.client, { token: first.refresh });
  expect([refresh.body.active, refresh.body.permissions]).toEqual([true, undefined]);
  await api.rows(`update membership set role_id = 'guest' where account_id = $1`, [scene.account.id]);
  expect(await answers(first.access)).toEqual([]);
  const less = await post(api, '/oauth/introspect', scene.client, { token: first.access });
  expect(less.body.permissions).toEqual([]);
});

test('an operator key that may not verify, is revoked or unknown, introspects nothing', async ({ api }) => {
  const account = await api.anAccount();
  const key = await api.anApiKey(account, { scopes: SCOPES });
  const codeOf = async (secret: string) => {
    const { status, body } = await ask(api, secret, `token=${key.secret}`);
    return `${status} ${body.code ?? body.error}`;
  };
  expect(await codeOf((await api.anOperatorKey({ scopes: ['accounts:read'] })).secret)).toBe('403 scope_missing');
  expect(await codeOf((await api.anOperatorKey({ revoked: true })).secret)).toBe('401 credential_invalid');
  expect(await codeOf(api.services.tokens.generate('operatorKey').secret)).toBe('401 credential_invalid');
  expect(await codeOf(key.secret)).toBe('400 invalid_request');
});
