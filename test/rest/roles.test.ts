import { describe, expect } from 'vitest';
import { PERMISSIONS } from '../../src/entities/index.ts';
import { test } from '../support/api.ts';

describe('listTeamRoles', () => {
  test('200: the system roles and the team’s own, and none of another team', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const role = await api.aRole(team, ['access_billing', 'edit_team_settings']);
    await api.aRole(await api.aTeam(), ['access_billing']);
    const key = await api.anApiKey(owner, { scopes: ['members:read'] });

    const { body } = await api.as(key).get(`/api/v1/teams/${team.id}/roles`);

    expect(body).toEqual([
      { roleId: 'owner', name: 'Owner', isSystemRole: true, isAssignable: false, permissions: [...PERMISSIONS] },
      { roleId: 'member', name: 'Member', isSystemRole: true, isAssignable: true, permissions: ['access_dashboard'] },
      { roleId: 'guest', name: 'Guest', isSystemRole: true, isAssignable: true, permissions: [] },
      {
        roleId: role.id,
        name: role.id,
        isSystemRole: false,
        isAssignable: true,
        permissions: ['edit_team_settings', 'access_billing'],
      },
    ]);
  });

  // Guarantees that no one is offered a role above their own.
  test('200: a role with a permission the caller lacks is not assignable', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const inviter = await api.anAccount();
    const own = await api.aRole(team, ['access_dashboard', 'invite_members']);
    const above = await api.aRole(team, ['access_dashboard', 'access_billing']);
    await api.aMember(team, inviter, { role: own.id });
    const key = await api.anApiKey(inviter, { scopes: ['members:read'] });

    const { body } = await api.as(key).get(`/api/v1/teams/${team.id}/roles`);

    const assignable = body.filter((role: { isAssignable: boolean }) => role.isAssignable);
    expect(assignable.map((role: { roleId: string }) => role.roleId)).toEqual(['member', 'guest', own.id]);
    expect(body.map((role: { roleId: string }) => role.roleId)).toContain(above.id);
  });
});
