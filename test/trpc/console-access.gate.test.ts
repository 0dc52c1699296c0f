import { describe, expect } from 'vitest';
import { PERMISSIONS, SCOPES, type Permission, type Scope } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, outcomeOf, stateOf, withKey, type Trpc } from './console.ts';

/** A team with one of everything that the calls below are about. */
type World = {
  readonly team: { id: string };
  readonly userId: string;
  readonly roleId: string;
  readonly invitationId: string;
};

type Row = { readonly name: string; readonly call: (trpc: Trpc, teamId: string, world: World) => Promise<unknown> };
type Scoped = Row & {
  readonly scope: Scope;
  readonly permission: Permission;
  /** What it needs besides. */
  readonly also?: { readonly scope: Scope; readonly permission: Permission };
};
type Personal = Row & { readonly isOwners: boolean; readonly permission?: Permission; readonly outcome?: string };

/** What keys can do too: by scope and permission. */
const SCOPED: readonly Scoped[] = [
  {
    name: 'invitations.list',
    scope: 'members:read',
    permission: 'invite_members',
    call: (trpc, teamId) => trpc.invitations.list.query({ teamId }),
  },
  {
    name: 'invitations.create',
    scope: 'invites:write',
    permission: 'invite_members',
    call: (trpc, teamId) => trpc.invitations.create.mutate({ teamId, email: 'new@example.com' }),
  },
  {
    name: 'invitations.resend',
    scope: 'invites:write',
    permission: 'invite_members',
    call: (trpc, teamId, { invitationId }) => trpc.invitations.resend.mutate({ teamId, invitationId }),
  },
  {
    name: 'teams.updateDetails',
    scope: 'teams:write',
    permission: 'edit_team_settings',
    call: (trpc, teamId) => trpc.teams.updateDetails.mutate({ teamId, description: 'New' }),
  },
  {
    name: 'roles.create',
    scope: 'teams:write',
    permission: 'edit_team_settings',
    call: (trpc, teamId) => trpc.roles.create.mutate({ teamId, name: 'New', permissions: [] }),
  },
  {
    name: 'roles.update',
    scope: 'teams:write',
    permission: 'edit_team_settings',
    call: (trpc, teamId, { roleId }) => trpc.roles.update.mutate({ teamId, roleId, name: 'New' }),
  },
  {
    name: 'roles.delete',
    scope: 'teams:write',
    permission: 'edit_team_settings',
    call: (trpc, teamId, { roleId }) => trpc.roles.delete.mutate({ teamId, roleId, replacementRoleId: 'guest' }),
  },
  {
    name: 'members.setRole',
    scope: 'members:write',
    permission: 'edit_team_settings',
    call: (trpc, teamId, { userId, roleId }) => trpc.members.setRole.mutate({ teamId, userId, roleId }),
  },
  {
    name: 'members.activate',
    scope: 'members:write',
    permission: 'remove_members',
    call: (trpc, teamId, { userId }) => trpc.members.activate.mutate({ teamId, userId }),
  },
  {
    name: 'members.deactivate',
    scope: 'members:write',
    permission: 'remove_members',
    call: (trpc, teamId, { userId }) => trpc.members.deactivate.mutate({ teamId, userId }),
  },
  {
    name: 'members.setExpiry',
    scope: 'members:write',
    permission: 'remove_members',
    call: (trpc, teamId, { userId }) =>
      trpc.members.setExpiry.mutate({ teamId, userId, expiresAt: '2099-01-01T00:00:00Z' }),
  },
  {
    name: 'members.removeWithInvitations',
    scope: 'members:write',
    permission: 'remove_members',
    also: { scope: 'invites:write', permission: 'invite_members' },
    call: (trpc, teamId, { userId }) => trpc.members.removeWithInvitations.mutate({ teamId, userId }),
  },
  {
    name: 'members.removalPreview',
    scope: 'members:write',
    permission: 'remove_members',
    call: (trpc, teamId, { userId }) => trpc.members.removalPreview.query({ teamId, userId }),
  },
  {
    name: 'members.removalPreviews',
    scope: 'members:write',
    permission: 'remove_members',
    call: (trpc, teamId, { userId }) => trpc.members.removalPreviews.query({ teamId, accountIds: [userId] }),
  },
];

/** What only a person does who is signed in. `outcome` is what somebody gets who may, where it is not `done`. */
const PERSONAL: readonly Personal[] = [
  { name: 'teams.permissions', isOwners: false, call: (trpc, teamId) => trpc.teams.permissions.query({ teamId }) },
  { name: 'teams.seats', isOwners: false, call: (trpc, teamId) => trpc.teams.seats.query({ teamId }) },
  { name: 'teams.overview', isOwners: false, call: (trpc, teamId) => trpc.teams.overview.query({ teamId }) },
  { name: 'teams.leave', isOwners: false, call: (trpc, teamId) => trpc.teams.leave.mutate({ teamId }) },
  {
    name: 'teams.ownershipOffer',
    isOwners: false,
    call: (trpc, teamId) => trpc.teams.ownershipOffer.query({ teamId }),
  },
  {
    name: 'teams.acceptOwnership',
    isOwners: false,
    outcome: 'transfer_not_found',
    call: (trpc, teamId) => trpc.teams.acceptOwnership.mutate({ teamId }),
  },
  {
    name: 'teams.declineOwnership',
    isOwners: false,
    outcome: 'transfer_not_found',
    call: (trpc, teamId) => trpc.teams.declineOwnership.mutate({ teamId }),
  },
  { name: 'teams.delete', isOwners: true, call: (trpc, teamId) => trpc.teams.delete.mutate({ teamId }) },
  {
    name: 'teams.offerOwnership',
    isOwners: true,
    call: (trpc, teamId, { userId }) => trpc.teams.offerOwnership.mutate({ teamId, userId }),
  },
  {
    name: 'teams.withdrawOwnershipOffer',
    isOwners: true,
    outcome: 'transfer_not_found',
    call: (trpc, teamId) => trpc.teams.withdrawOwnershipOffer.mutate({ teamId }),
  },
  {
    name: 'apiKeys.list',
    isOwners: false,
    permission: 'manage_api_keys',
    call: (trpc, teamId) => trpc.apiKeys.list.query({ teamId }),
  },
  {
    name: 'audit.list',
    isOwners: false,
    permission: 'edit_team_settings',
    call: (trpc, teamId) => trpc.audit.list.query({ teamId }),
  },
  {
    name: 'webhooks.types',
    isOwners: false,
    permission: 'edit_team_settings',
    call: (trpc, teamId) => trpc.webhooks.types.query({ teamId }),
  },
  {
    name: 'webhooks.list',
    isOwners: false,
    permission: 'edit_team_settings',
    call: (trpc, teamId) => trpc.webhooks.list.query({ teamId }),
  },
  {
    name: 'webhooks.create',
    isOwners: false,
    permission: 'edit_team_settings',
    // All types need more: test/trpc/webhook-deputies.test.ts.
    call: (trpc, teamId) =>
      trpc.webhooks.create.mutate({ teamId, url: 'https://example.com/hook', types: ['team.updated'] }),
  },
  {
    name: 'webhooks.update',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.update.mutate({ teamId, endpointId: 'nothing', types: [] }),
  },
  {
    name: 'webhooks.pause',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.pause.mutate({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.resume',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.resume.mutate({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.rotateSecret',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.rotateSecret.mutate({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.delete',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.delete.mutate({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.sendTest',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.sendTest.mutate({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.deliveries',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.deliveries.query({ teamId, endpointId: 'nothing' }),
  },
  {
    name: 'webhooks.replay',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) => trpc.webhooks.replay.mutate({ teamId, endpointId: 'nothing', deliveryId: 'nothing' }),
  },
  {
    name: 'webhooks.replayFailed',
    isOwners: false,
    permission: 'edit_team_settings',
    outcome: 'webhook_endpoint_not_found',
    call: (trpc, teamId) =>
      trpc.webhooks.replayFailed.mutate({ teamId, endpointId: 'nothing', since: '2026-01-01T00:00:00Z' }),
  },
  {
    name: 'apiKeys.revokeInTeam',
    isOwners: false,
    permission: 'manage_api_keys',
    outcome: 'api_key_not_found',
    call: (trpc, teamId) => trpc.apiKeys.revokeInTeam.mutate({ teamId, keyId: 'nothing' }),
  },
];

type Standing = 'stranger' | 'inactive' | 'expired' | 'guest' | 'member' | 'owner' | readonly Permission[];

/** A world, and an account that stands in its team as the case says. */
async function aWorld(api: Api, standing: Standing): Promise<World & { readonly caller: { id: string } }> {
  const caller = await api.anAccount();
  const team = await api.aTeam({ owner: standing === 'owner' ? caller : await api.anAccount() });
  await api.aSubscription(team);
  const member = await api.anAccount();
  const role = await api.aRole(team, []);
  await api.aMember(team, member);
  const { id: invitationId } = await api.anInvitation(team);
  if (standing !== 'owner' && standing !== 'stranger') {
    const isNamed = standing === 'guest' || standing === 'member';
    // Whoever is inactive or expired would hold every permission.
    const roleId = isNamed
      ? standing
      : (await api.aRole(team, typeof standing === 'string' ? PERMISSIONS : standing)).id;
    await api.aMember(team, caller, {
      role: roleId,
      active: standing !== 'inactive',
      expiresAt: standing === 'expired' ? inMinutes(-1) : null,
    });
  }
  return { caller, team, userId: member.id, roleId: role.id, invitationId };
}

const withoutId = (problem: object) => ({ ...problem, requestId: '' });
const allBut = <T>(all: readonly T[], one: T) => all.filter((each) => each !== one);

describe.for(SCOPED)('$name', ({ scope, permission, also, call }) => {
  const scopes = also === undefined ? [scope] : [scope, also.scope];
  const permissions = also === undefined ? [permission] : [permission, also.permission];
  const attempt = async (api: Api, standing: Standing) => {
    const world = await aWorld(api, standing);
    const before = await stateOf(api, world.team);
    const outcome = await outcomeOf(call(await as(api, world.caller), world.team.id, world));
    if (outcome !== 'done') expect(await stateOf(api, world.team)).toEqual(before);
    return outcome;
  };

  test('needs a credential with its scope', async ({ api }) => {
    const world = await aWorld(api, 'owner');
    const before = await stateOf(api, world.team);

    expect(await outcomeOf(call(api.visitor().trpc, world.team.id, world))).toBe('credential_missing');
    expect(await outcomeOf(call(withKey(api, { secret: 'nonsense' }), world.team.id, world))).toBe(
      'credential_invalid',
    );
    for (const needed of scopes) {
      const narrow = await api.anApiKey(world.caller, { scopes: allBut(SCOPES, needed) });
      expect(await outcomeOf(call(withKey(api, narrow), world.team.id, world))).toBe('scope_missing');
      expect(await outcomeOf(call(withKey(api, narrow), 'nothing', world))).toBe('scope_missing');
    }
    expect(await stateOf(api, world.team)).toEqual(before);
  });

  test('is open to a personal key and to a key of the team, not to one of another team', async ({ api }) => {
    const [personal, ofTeam, ofAnother] = [
      await aWorld(api, 'owner'),
      await aWorld(api, 'owner'),
      await aWorld(api, 'owner'),
    ];
    const other = await api.aTeam({ owner: ofAnother.caller });
    const keys = [
      await api.anApiKey(personal.caller, { scopes }),
      await api.anApiKey(ofTeam.caller, { scopes, team: ofTeam.team }),
      await api.anApiKey(ofAnother.caller, { scopes, team: other }),
    ] as const;
    const before = await stateOf(api, ofAnother.team);

    expect(await outcomeOf(call(withKey(api, keys[0]), personal.team.id, personal))).toBe('done');
    expect(await outcomeOf(call(withKey(api, keys[1]), ofTeam.team.id, ofTeam))).toBe('done');
    expect(await outcomeOf(call(withKey(api, keys[2]), ofAnother.team.id, ofAnother))).toBe('team_not_found');
    expect(await stateOf(api, ofAnother.team)).toEqual(before);
  });

  test('is denied without the permission', async ({ api }) => {
    expect(await attempt(api, 'guest')).toBe('permission_missing');
    expect(await attempt(api, 'member')).toBe('permission_missing');
    for (const needed of permissions)
      expect(await attempt(api, allBut(PERMISSIONS, needed))).toBe('permission_missing');
  });

  test('is granted by the permission, and to the owner', async ({ api }) => {
    // The invitation of the fixture is to the role `member`, which only callers with its permission can send again.
    expect(await attempt(api, ['access_dashboard', ...permissions])).toBe('done');
    expect(await attempt(api, 'owner')).toBe('done');
  });

  // Guarantees that ids of teams cannot be probed.
  test('responds to callers without access as if the team did not exist', async ({ api }) => {
    for (const standing of ['stranger', 'inactive', 'expired'] as const) {
      const world = await aWorld(api, standing);
      const before = await stateOf(api, world.team);
      const trpc = await as(api, world.caller);

      const unseen = await problemOf(call(trpc, world.team.id, world));
      expect(unseen.code).toBe('team_not_found');
      expect(withoutId(unseen)).toEqual(withoutId(await problemOf(call(trpc, 'nothing', world))));
      expect(await stateOf(api, world.team)).toEqual(before);
    }
  });
});

describe.for(PERSONAL)('$name', ({ isOwners, permission, outcome = 'done', call }) => {
  const isForMembers = !isOwners && permission === undefined;

  const attempt = async (api: Api, standing: Standing) => {
    const world = await aWorld(api, standing);
    const before = await stateOf(api, world.team);
    const result = await outcomeOf(call(await as(api, world.caller), world.team.id, world));
    if (result !== 'done') expect(await stateOf(api, world.team)).toEqual(before);
    return result;
  };

  test('requires a signed-in user', async ({ api }) => {
    const world = await aWorld(api, isForMembers ? 'member' : 'owner');
    const keys = [
      await api.anApiKey(world.caller, { scopes: SCOPES }),
      await api.anApiKey(world.caller, { scopes: ['teams:write', 'teams:read'], team: world.team }),
    ];
    const before = await stateOf(api, world.team);

    expect(await outcomeOf(call(api.visitor().trpc, world.team.id, world))).toBe('credential_missing');
    for (const key of keys)
      expect(await outcomeOf(call(withKey(api, key), world.team.id, world))).toBe('session_required');
    expect(await stateOf(api, world.team)).toEqual(before);
  });

  test('requires the owner, a permission, or any member', async ({ api }) => {
    const forMembers = isForMembers ? outcome : 'permission_missing';

    expect(await attempt(api, 'guest')).toBe(forMembers);
    expect(await attempt(api, 'member')).toBe(forMembers);
    expect(await attempt(api, PERMISSIONS)).toBe(isOwners ? 'permission_missing' : outcome);
    if (!isForMembers) expect(await attempt(api, 'owner')).toBe(outcome);
    if (permission === undefined) return;
    expect(await attempt(api, allBut(PERMISSIONS, permission))).toBe('permission_missing');
    expect(await attempt(api, [permission])).toBe(outcome);
  });

  // Guarantees that ids of teams cannot be probed.
  test('responds to callers without access as if the team did not exist', async ({ api }) => {
    for (const standing of ['stranger', 'inactive', 'expired'] as const) {
      const world = await aWorld(api, standing);
      const before = await stateOf(api, world.team);
      const trpc = await as(api, world.caller);

      const unseen = await problemOf(call(trpc, world.team.id, world));
      expect(unseen.code).toBe('team_not_found');
      expect(withoutId(unseen)).toEqual(withoutId(await problemOf(call(trpc, 'nothing', world))));
      expect(await stateOf(api, world.team)).toEqual(before);
    }
  });
});

test('teams.ownershipOffers requires a signed-in user', async ({ api }) => {
  const account = await api.anAccount();

  expect(await outcomeOf(api.visitor().trpc.teams.ownershipOffers.query())).toBe('credential_missing');
  expect(
    await outcomeOf(withKey(api, await api.anApiKey(account, { scopes: SCOPES })).teams.ownershipOffers.query()),
  ).toBe('session_required');
  expect(await (await as(api, account)).teams.ownershipOffers.query()).toEqual([]);
});
