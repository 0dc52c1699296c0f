import { expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';

const ask = (api: Api, secret: string, form: string) =>
  api.as(secret).send({
    method: 'POST',
    path: '/oauth/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
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
