import { describe, expect } from 'vitest';
import emails from '../../src/messages/email.en.json' with { type: 'json' };
import { PERMISSIONS, type Permission } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, membershipOf, memberships, outcomeOf, stateOf } from './console.ts';
import { allMailed } from './people.ts';

/** A team, its owner, and an editor of roles who holds some permissions. */
async function aScene(api: Api, holding: readonly Permission[] = ['edit_team_settings', 'access_dashboard']) {
  const owner = await api.anAccount();
  const editor = await api.anAccount();
  const team = await api.aTeam({ owner });
  const editorRole = await api.aRole(team, holding);
  await api.aMember(team, editor, { role: editorRole.id });
  const { roles: ofOwner, listTeamRoles } = await as(api, owner);
  const { roles } = await as(api, editor);
  return { owner, editor, editorRole, team, teamId: team.id, ofOwner, roles, listTeamRoles };
}

const takenName = { code: 'validation_failed', errors: [{ in: 'body', pointer: '/name', code: 'invalid_value' }] };

describe('roles.create', () => {
  test('makes a role that the list shows, with its permissions in the order of the catalogue', async ({ api }) => {
    const { teamId, ofOwner, listTeamRoles } = await aScene(api);

    const role = await ofOwner.create.mutate({
      teamId,
      name: 'Bookkeeper',
      permissions: ['access_billing', 'access_dashboard', 'access_billing'],
    });

    expect(role).toEqual({
      roleId: expect.stringMatching(/^role_/),
      name: 'Bookkeeper',
      isSystemRole: false,
      isAssignable: true,
      permissions: ['access_dashboard', 'access_billing'],
      productPermissions: [],
      isPrivileged: false,
    });
    const { productPermissions: _, isPrivileged: __, ...listed } = role;
    expect(await listTeamRoles.query({ teamId })).toContainEqual(listed);
  });

  test('the owner can assign all six, a role without permissions none', async ({ api }) => {
    const { teamId, ofOwner, roles } = await aScene(api);

    expect((await ofOwner.create.mutate({ teamId, name: 'All', permissions: [...PERMISSIONS] })).permissions).toEqual(
      PERMISSIONS,
    );
    expect((await roles.create.mutate({ teamId, name: 'None', permissions: [] })).permissions).toEqual([]);
  });

  // Guarantees that no one creates a role above their own.
  test('rejects a permission that the caller does not hold', async ({ api }) => {
    const { team, teamId, roles } = await aScene(api);
    const before = await stateOf(api, team);

    for (const permission of PERMISSIONS.filter((each) => !['edit_team_settings', 'access_dashboard'].includes(each))) {
      const outcome = await outcomeOf(
        roles.create.mutate({ teamId, name: 'Strong', permissions: ['access_dashboard', permission] }),
      );
      expect(outcome).toBe('role_not_assignable');
    }
    expect(await stateOf(api, team)).toEqual(before);
  });

  test.for([
    'owner',
    'MEMBER',
    ' Guest ',
    'ｇｕｅｓｔ',
    'Night Owls',
    'night owls',
    'Night\u00a0 Owls',
    'ÉQUIPE',
    'e\u0301quipe',
  ])('refuses the name %j, which the team has', async (name, { api }) => {
    const { team, teamId, ofOwner } = await aScene(api);
    await ofOwner.create.mutate({ teamId, name: 'Night Owls', permissions: [] });
    await ofOwner.create.mutate({ teamId, name: 'Équipe', permissions: [] });
    const before = await stateOf(api, team);

    expect(await problemOf(ofOwner.create.mutate({ teamId, name, permissions: [] }))).toMatchObject(takenName);
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('another team has names of its own', async ({ api }) => {
    const [one, other] = [await aScene(api), await aScene(api)];
    await one.ofOwner.create.mutate({ teamId: one.teamId, name: 'Night Owls', permissions: [] });

    expect(
      await outcomeOf(other.ofOwner.create.mutate({ teamId: other.teamId, name: 'Night Owls', permissions: [] })),
    ).toBe('done');
  });

  test.for([
    [{ name: '' }, '/name', 'min_length'],
    [{ name: 'x'.repeat(101) }, '/name', 'max_length'],
    [{ name: '\ud800' }, '/name', 'invalid_format'],
    [{ name: undefined }, '/name', 'required'],
    [{ permissions: ['everything'] }, '/permissions/0', 'invalid_value'],
    [{ permissions: 'access_dashboard' }, '/permissions', 'invalid_type'],
  ] as const)('refuses %j', async ([change, pointer, code], { api }) => {
    const { team, teamId, ofOwner } = await aScene(api);
    const before = await stateOf(api, team);
    // What the types of the client would not allow.
    const input = { teamId, name: 'A role', permissions: [], ...change } as unknown as Parameters<
      typeof ofOwner.create.mutate
    >[0];

    expect(await problemOf(ofOwner.create.mutate(input))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer, code }],
    });
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('a name has up to 100 code points', async ({ api }) => {
    const { teamId, ofOwner } = await aScene(api);

    expect(await outcomeOf(ofOwner.create.mutate({ teamId, name: '🏔'.repeat(100), permissions: [] }))).toBe('done');
  });
});

describe('roles.update', () => {
  test('changes what is given, and members hold it from their next call on', async ({ api }) => {
    const { team, teamId, ofOwner } = await aScene(api);
    const role = await api.aRole(team, []);
    const member = await api.anAccount();
    await api.aMember(team, member, { role: role.id });
    const { listTeamMembers } = await as(api, member);
    expect(await outcomeOf(listTeamMembers.query({ teamId }))).toBe('permission_missing');

    const widened = await ofOwner.update.mutate({ teamId, roleId: role.id, permissions: ['access_dashboard'] });
    expect(widened).toEqual({
      roleId: role.id,
      name: role.id,
      isSystemRole: false,
      isAssignable: true,
      permissions: ['access_dashboard'],
      productPermissions: [],
      isPrivileged: false,
    });
    expect(await outcomeOf(listTeamMembers.query({ teamId }))).toBe('done');

    const renamed = await ofOwner.update.mutate({ teamId, roleId: role.id, name: 'Renamed' });
    expect(renamed).toEqual({ ...widened, name: 'Renamed' });
    expect(await ofOwner.update.mutate({ teamId, roleId: role.id })).toEqual(renamed);

    await ofOwner.update.mutate({ teamId, roleId: role.id, permissions: [] });
    expect(await outcomeOf(listTeamMembers.query({ teamId }))).toBe('permission_missing');
  });

  test('keeps its own name in another case, and cannot take that of another role', async ({ api }) => {
    const { teamId, ofOwner } = await aScene(api);
    const { roleId } = await ofOwner.create.mutate({ teamId, name: 'Night Owls', permissions: [] });
    await ofOwner.create.mutate({ teamId, name: 'Early Birds', permissions: [] });

    expect(await ofOwner.update.mutate({ teamId, roleId, name: 'NIGHT OWLS' })).toMatchObject({ name: 'NIGHT OWLS' });
    expect(await problemOf(ofOwner.update.mutate({ teamId, roleId, name: 'early birds' }))).toMatchObject(takenName);
    expect(await problemOf(ofOwner.update.mutate({ teamId, roleId, name: 'Owner' }))).toMatchObject(takenName);
  });

  // Guarantees that no one extends a role beyond their own permissions, or changes one above theirs.
  test('rejects permissions that the caller does not hold, in the role or for it', async ({ api }) => {
    const { team, teamId, editorRole, roles } = await aScene(api);
    const below = await api.aRole(team, ['access_dashboard']);
    const above = await api.aRole(team, ['access_dashboard', 'access_billing']);
    const before = await stateOf(api, team);

    for (const change of [
      { roleId: below.id, permissions: ['access_billing' as const] },
      { roleId: editorRole.id, permissions: [...PERMISSIONS] },
      { roleId: above.id, permissions: [] },
      { roleId: above.id, name: 'Renamed' },
      { roleId: above.id },
    ]) {
      expect(await outcomeOf(roles.update.mutate({ teamId, ...change }))).toBe('role_not_assignable');
    }
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('of one’s own role downwards holds for one’s own next call', async ({ api }) => {
    const { teamId, editorRole, roles } = await aScene(api);

    expect(
      await roles.update.mutate({ teamId, roleId: editorRole.id, permissions: ['access_dashboard'] }),
    ).toMatchObject({ isAssignable: true });
    expect(await outcomeOf(roles.update.mutate({ teamId, roleId: editorRole.id, permissions: [] }))).toBe(
      'permission_missing',
    );
  });
});

describe('roles of the system and of other teams', () => {
  test('are no roles to change or delete', async ({ api }) => {
    const { team, teamId, ofOwner } = await aScene(api);
    const foreign = await api.aRole(await api.aTeam(), []);
    const before = await stateOf(api, team);

    for (const roleId of ['owner', 'member', 'guest', foreign.id, 'nothing']) {
      expect(await outcomeOf(ofOwner.update.mutate({ teamId, roleId, permissions: [] }))).toBe('role_not_found');
      expect(await outcomeOf(ofOwner.delete.mutate({ teamId, roleId, replacementRoleId: 'guest' }))).toBe(
        'role_not_found',
      );
    }
    expect(await stateOf(api, team)).toEqual(before);
    expect(
      await api.rows(`select id, cardinality(permissions) as size from role where team_id is null order by id`),
    ).toEqual([
      { id: 'guest', size: 0 },
      { id: 'member', size: 1 },
      { id: 'owner', size: 6 },
    ]);
  });
});

describe('roles.delete', () => {
  test.for(['guest', 'member', 'a role of the team'])('moves members and invitations to %s', async (to, { api }) => {
    const { team, teamId, ofOwner, listTeamRoles } = await aScene(api);
    const role = await api.aRole(team, ['access_billing']);
    const bystander = await api.aRole(team, []);
    const replacementRoleId = to === 'a role of the team' ? (await api.aRole(team, ['access_dashboard'])).id : to;
    const [active, inactive, other] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.aMember(team, active, { role: role.id });
    await api.aMember(team, inactive, { role: role.id, active: false });
    await api.aMember(team, other, { role: bystander.id });
    await api.anInvitation(team, { role: role.id });
    await api.anInvitation(team, { role: role.id, acceptedAt: new Date() });
    await api.anInvitation(team, { role: role.id, expiresAt: inMinutes(-1) });
    await api.anInvitation(team, { role: bystander.id });
    const { getTeam } = await as(api, active);

    expect(await ofOwner.delete.mutate({ teamId, roleId: role.id, replacementRoleId })).toEqual({ success: true });

    expect((await getTeam.query({ teamId })).role.id).toBe(replacementRoleId);
    expect(await membershipOf(api, team, inactive)).toMatchObject({ role_id: replacementRoleId, is_active: false });
    expect(await membershipOf(api, team, other)).toMatchObject({ role_id: bystander.id });
    const invitations = await api.rows<{ role_id: string }>('select role_id from invitation where team_id = $1', [
      teamId,
    ]);
    expect(invitations.map(({ role_id }) => role_id).toSorted()).toEqual(
      [replacementRoleId, replacementRoleId, replacementRoleId, bystander.id].toSorted(),
    );
    expect((await listTeamRoles.query({ teamId })).map(({ roleId }) => roleId)).not.toContain(role.id);
    expect(await outcomeOf(ofOwner.delete.mutate({ teamId, roleId: role.id, replacementRoleId: 'guest' }))).toBe(
      'role_not_found',
    );
  });

  const HOLDERS: Readonly<Record<string, (api: Api, team: { id: string }, role: string) => Promise<unknown>>> = {
    'a member': async (api, team, role) => api.aMember(team, await api.anAccount(), { role }),
    'an inactive member': async (api, team, role) => api.aMember(team, await api.anAccount(), { role, active: false }),
    'a pending invitation': (api, team, role) => api.anInvitation(team, { role }),
    nobody: () => Promise.resolve(),
    'an accepted invitation': (api, team, role) => api.anInvitation(team, { role, acceptedAt: new Date() }),
    'an expired invitation': (api, team, role) => api.anInvitation(team, { role, expiresAt: inMinutes(-1) }),
  };
  const TOLD = ['a member', 'an inactive member', 'a pending invitation'];

  test.for(Object.keys(HOLDERS))('tells by email of a privileged role that %s gets', async (holder, { api }) => {
    const { owner, team, teamId, ofOwner } = await aScene(api);
    const { id: roleId } = await api.aRole(team, []);
    const { id: replacementRoleId } = await api.aRole(team, ['invite_members']);
    await HOLDERS[holder]?.(api, team, roleId);

    await ofOwner.delete.mutate({ teamId, roleId, replacementRoleId });

    await allMailed(api);
    const told = api.mails.filter(({ to, subject }) => to === owner.email && subject === emails['role_given.title']);
    expect(told).toHaveLength(TOLD.includes(holder) ? 1 : 0);
  });

  test('of one’s own role moves oneself, which holds for the next call', async ({ api }) => {
    const { team, teamId, editor, editorRole, roles } = await aScene(api);

    await roles.delete.mutate({ teamId, roleId: editorRole.id, replacementRoleId: 'member' });

    expect(await membershipOf(api, team, editor)).toMatchObject({ role_id: 'member' });
    expect(await outcomeOf(roles.create.mutate({ teamId, name: 'More', permissions: [] }))).toBe('permission_missing');
  });

  test('rejects an invalid replacement, and a role above the caller; nothing changes', async ({ api }) => {
    const { team, teamId, roles } = await aScene(api);
    const role = await api.aRole(team, ['access_dashboard']);
    const above = await api.aRole(team, ['access_billing']);
    const foreign = await api.aRole(await api.aTeam(), []);
    await api.aMember(team, await api.anAccount(), { role: role.id });
    const before = await stateOf(api, team);
    const remove = (roleId: string, replacementRoleId: string) =>
      roles.delete.mutate({ teamId, roleId, replacementRoleId });

    for (const replacementRoleId of [role.id, foreign.id, 'nothing']) {
      expect(await problemOf(remove(role.id, replacementRoleId))).toMatchObject({
        code: 'validation_failed',
        errors: [{ in: 'body', pointer: '/replacementRoleId', code: 'invalid_value' }],
      });
    }
    expect(await outcomeOf(remove(role.id, 'owner'))).toBe('role_not_assignable');
    expect(await outcomeOf(remove(role.id, above.id))).toBe('role_not_assignable');
    expect(await outcomeOf(remove(above.id, 'guest'))).toBe('role_not_assignable');
    expect(await stateOf(api, team)).toEqual(before);
    expect(await memberships(api, team)).toHaveLength(3);
  });
});
