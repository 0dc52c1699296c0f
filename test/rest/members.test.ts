import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('listTeamMembers', () => {
  test('200: all memberships in the order of joining; only active ones are active', async ({ api }) => {
    const owner = await api.anAccount({ firstName: 'Olga', lastName: 'Owner' });
    const team = await api.aTeam({ owner });
    const role = await api.aRole(team, ['access_dashboard']);
    const [inactive, expired, custom] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.aMember(team, inactive, { role: 'member', active: false });
    await api.aMember(team, expired, { role: 'guest', expiresAt: new Date(Date.now() - 1000) });
    await api.aMember(team, custom, { role: role.id, expiresAt: new Date(Date.now() + 60_000) });
    const key = await api.anApiKey(custom, { scopes: ['members:read'] });

    const { body } = await api.as(key).get(`/api/v1/teams/${team.id}/members`);

    expect(
      body.map((m: { userId: string; isActive: boolean; isSystemRole: boolean }) => [
        m.userId,
        m.isActive,
        m.isSystemRole,
      ]),
    ).toEqual([
      [owner.id, true, true],
      [inactive.id, false, true],
      [expired.id, false, true],
      [custom.id, true, false],
    ]);
    expect(body[0]).toMatchObject({
      email: owner.email,
      firstName: 'Olga',
      roleId: 'owner',
      roleName: 'Owner',
      avatar: null,
    });
  });
});

describe('removeTeamMember', () => {
  // Guarantees that a team credential dies with the membership it stands on, and no other does.
  test('200: the member is removed, their keys for the team stop working, their others keep working', async ({
    api,
  }) => {
    const owner = await api.anAccount();
    const member = await api.anAccount();
    const team = await api.aTeam({ owner });
    const elsewhere = await api.aTeam({ owner: member });
    await api.aMember(team, member, { role: 'member' });
    const key = await api.anApiKey(owner, { scopes: ['members:write', 'members:read'] });
    const teamKey = await api.anApiKey(member, { scopes: ['teams:read'], team });
    const otherTeamKey = await api.anApiKey(member, { scopes: ['teams:read'], team: elsewhere });
    const personalKey = await api.anApiKey(member, { scopes: ['teams:read'] });
    const ownersTeamKey = await api.anApiKey(owner, { scopes: ['teams:read'], team });

    const removal = await api.as(key).delete(`/api/v1/teams/${team.id}/members/${member.id}`);

    expect(removal.body).toEqual({ success: true });
    expect(await api.as(teamKey).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect((await api.as(otherTeamKey).get('/api/v1/credential')).status).toBe(200);
    expect((await api.as(ownersTeamKey).get('/api/v1/credential')).status).toBe(200);
    expect(await api.as(personalKey).get(`/api/v1/teams/${team.id}`)).toBeProblem('team_not_found');
    expect((await api.as(key).get(`/api/v1/teams/${team.id}/members`)).body).toHaveLength(1);
    expect(await api.as(key).delete(`/api/v1/teams/${team.id}/members/${member.id}`)).toBeProblem('member_not_found');
  });

  test('403: the owner cannot be removed, by a role that may remove members or by themselves', async ({ api }) => {
    const owner = await api.anAccount();
    const admin = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aMember(team, admin, { role: (await api.aRole(team, ['remove_members'])).id });

    for (const account of [owner, admin]) {
      const key = await api.anApiKey(account, { scopes: ['members:write'] });
      expect(await api.as(key).delete(`/api/v1/teams/${team.id}/members/${owner.id}`)).toBeProblem(
        'owner_not_removable',
      );
    }
    expect(await api.rows('select 1 from membership where team_id = $1', [team.id])).toHaveLength(2);
  });

  test('404: an account that is a member of another team only', async ({ api }) => {
    const owner = await api.anAccount();
    const stranger = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aTeam({ owner: stranger });
    const key = await api.anApiKey(owner, { scopes: ['members:write'] });

    expect(await api.as(key).delete(`/api/v1/teams/${team.id}/members/${stranger.id}`)).toBeProblem('member_not_found');
  });
});
