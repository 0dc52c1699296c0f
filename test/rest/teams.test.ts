import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('listTeams', () => {
  test('200: teams with an active membership, by name then id, each with the caller’s role', async ({ api }) => {
    const account = await api.anAccount();
    const b = await api.aTeam({ owner: account, name: 'beta' });
    const a2 = await api.aTeam({ name: 'alpha' });
    const a1 = await api.aTeam({ owner: account, name: 'Zulu' });
    await api.aMember(a2, account, { role: 'guest' });
    await api.aMember(await api.aTeam(), account, { role: 'member', active: false });
    await api.aMember(await api.aTeam(), account, { role: 'member', expiresAt: new Date(Date.now() - 1000) });
    await api.aTeam({ owner: await api.anAccount() });
    const key = await api.anApiKey(account, { scopes: ['teams:read'] });

    const { body } = await api.as(key).get('/api/v1/teams');

    expect(body.map((team: { id: string; role: object }) => [team.id, team.role])).toEqual([
      [a1.id, { id: 'owner', name: 'Owner' }],
      [a2.id, { id: 'guest', name: 'Guest' }],
      [b.id, { id: 'owner', name: 'Owner' }],
    ]);
  });

  test('200: a team key lists its one team, and nothing once the membership has ended', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam();
    const membership = await api.aMember(team, account, { role: 'member' });
    await api.aTeam({ owner: account });
    const key = await api.anApiKey(account, { scopes: ['teams:read'], team });

    expect((await api.as(key).get('/api/v1/teams')).body.map(({ id }: { id: string }) => id)).toEqual([team.id]);

    await api.rows('update membership set is_active = false where id = $1', [membership.id]);
    expect((await api.as(key).get('/api/v1/teams')).body).toEqual([]);
    expect(await api.as(key).get(`/api/v1/teams/${team.id}`)).toBeProblem('team_not_found');
  });
});

describe('createTeam', () => {
  test('201: the caller owns it, is its first member, and the slug comes from the name', async ({ api }) => {
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['teams:write', 'teams:read', 'members:read'] });

    const { status, body } = await api.as(key).post('/api/v1/teams', { name: 'Çelik & Söhne', description: 'Steel' });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^team_/),
      name: 'Çelik & Söhne',
      slug: expect.stringMatching(/^celik-sohne/),
      description: 'Steel',
      avatarUrl: null,
      role: { id: 'owner', name: 'Owner' },
    });
    expect((await api.as(key).get(`/api/v1/teams/${body.id}`)).body).toEqual(body);
    expect((await api.as(key).get(`/api/v1/teams/${body.id}/members`)).body).toMatchObject([
      { userId: account.id, roleId: 'owner', isActive: true, joinedAt: expect.any(String) },
    ]);
  });

  test('201: equal names get numbered slugs, names without letters a neutral one', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const slugOf = async (name: string) => (await api.as(key).post('/api/v1/teams', { name })).body.slug;

    expect([
      await slugOf('Night Shift'),
      await slugOf('night  SHIFT!'),
      await slugOf('Night Shift 2'),
      await slugOf('Night Shift'),
    ]).toEqual(['night-shift', 'night-shift-2', 'night-shift-2-2', 'night-shift-3']);
    expect(await slugOf('!!!')).toMatch(/^team(-\d+)?$/);
    expect((await slugOf('x'.repeat(100))).length).toBe(60);
  });

  test('403: the team limit counts the teams an account owns, and nothing is created', async ({ api }) => {
    const account = await api.anAccount();
    for (let i = 0; i < 10; i++) await api.aTeam({ owner: account });
    await api.aMember(await api.aTeam(), account, { role: 'member' });
    const key = await api.anApiKey(account, { scopes: ['teams:write', 'teams:read'] });

    const answer = await api.as(key).post('/api/v1/teams', { name: 'One too many' });

    expect(answer).toBeProblem('team_limit_reached');
    expect(answer.body.detail).toContain('10');
    expect((await api.as(key).get('/api/v1/teams')).body).toHaveLength(11);
  });
});

describe('updateTeam', () => {
  test('200: the name changes, the slug does not', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['teams:write', 'teams:read'] });

    const { status, body } = await api
      .as(key)
      .patch(`/api/v1/teams/${team.id}`, { name: 'New name', slug: 'new', teamId: 'other' });

    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: team.id,
      name: 'New name',
      slug: team.slug,
      role: { id: 'owner', name: 'Owner' },
    });
    expect((await api.as(key).get(`/api/v1/teams/${team.id}`)).body).toEqual(body);
  });
});
