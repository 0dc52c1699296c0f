import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('getMe', () => {
  test('200: the profile, without anything that is not in the contract', async ({ api }) => {
    const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
    const key = await api.anApiKey(account, { scopes: ['profile:read'] });

    const { status, body } = await api.as(key).get('/api/v1/me');

    expect(status).toBe(200);
    expect(body).toEqual({
      id: account.id,
      email: account.email,
      firstName: 'Ada',
      lastName: 'Lovelace',
      role: 'user',
      avatar: null,
      preferredLocale: null,
      emailVerified: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
    });
  });
});

describe('updateMe', () => {
  test('200: both names change, updatedAt moves on, nothing else changes', async ({ api }) => {
    const account = await api.anAccount({ firstName: 'Ada', lastName: 'Byron' });
    const key = await api.anApiKey(account, { scopes: ['profile:read', 'profile:write'] });
    const before = (await api.as(key).get('/api/v1/me')).body;

    const { status, body } = await api
      .as(key)
      .patch('/api/v1/me', { firstName: 'Grace', lastName: 'Hopper', role: 'admin', id: 'x' });

    expect(status).toBe(200);
    expect(body).toEqual({ ...before, firstName: 'Grace', lastName: 'Hopper', updatedAt: body.updatedAt });
    expect(body.updatedAt >= before.updatedAt).toBe(true);
    expect((await api.as(key).get('/api/v1/me')).body).toEqual(body);
  });

  test('answers what is stored, to the millisecond', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['profile:read', 'profile:write'] });
    for (let i = 0; i < 20; i += 1) {
      const { body } = await api.as(key).patch('/api/v1/me', { firstName: `Grace ${i}`, lastName: 'Hopper' });
      expect((await api.as(key).get('/api/v1/me')).body).toEqual(body);
    }
  });
});

describe('listMySessions', () => {
  test('200: active sessions of the account, newest first, none of them current', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['profile:read'] });
    const older = await api.aSession(account, { createdAt: new Date(Date.now() - 60_000), browser: 'Firefox' });
    const newer = await api.aSession(account);
    await api.aSession(account, { expiresAt: new Date(Date.now() - 1000) });
    await api.aSession(await api.anAccount());

    const { body } = await api.as(key).get('/api/v1/me/sessions');

    expect(body.map(({ id }: { id: string }) => id)).toEqual([newer.id, older.id]);
    expect(body[1]).toMatchObject({
      isCurrentSession: false,
      authenticationType: 'password',
      browser: 'Firefox',
      country: null,
    });
  });
});

describe('revokeMySession', () => {
  test('200: the session is signed out and no longer listed', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['profile:read', 'profile:write'] });
    const session = await api.aSession(account);

    expect((await api.as(key).delete(`/api/v1/me/sessions/${session.id}`)).body).toEqual({ success: true });
    expect((await api.as(key).get('/api/v1/me/sessions')).body).toEqual([]);
  });

  // Guarantees that ids cannot be probed and that no one signs out another user (spec 4.5).
  test("200: unknown ids and other accounts' sessions change nothing", async ({ api }) => {
    const other = await api.anAccount();
    const theirs = await api.aSession(other);
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['profile:write'] });
    const theirKey = await api.anApiKey(other, { scopes: ['profile:read'] });

    for (const id of [theirs.id, 'ses_unknown', 'anything at all'.replaceAll(' ', '%20')]) {
      expect((await api.as(key).delete(`/api/v1/me/sessions/${id}`)).body).toEqual({ success: true });
    }
    expect((await api.as(theirKey).get('/api/v1/me/sessions')).body).toHaveLength(1);
  });
});
