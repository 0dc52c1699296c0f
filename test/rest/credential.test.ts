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

  test('the scheme is case-insensitive', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    const headers = { authorization: `bEaReR ${secret}` };

    expect((await api.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers })).status).toBe(200);
  });

  // Guarantees that lastUsedAt is kept although no read writes.
  test('use is noted to the minute and written by the next flush', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['api-keys:read'] });

    await api.as(key).get('/api/v1/credential');
    await api.usage.flush();
    const [listed] = (await api.as(key).get('/api/v1/api-keys')).body;

    expect(listed.lastUsedAt).toMatch(/:00\.000Z$/);
    expect(Math.abs(Date.now() - Date.parse(listed.lastUsedAt))).toBeLessThan(120_000);
  });
});
