import { describe, expect } from 'vitest';
import { PERMISSIONS } from '../../src/entities/index.ts';
import { test } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import {
  anInvitationWithLink,
  as,
  inMinutes,
  memberships,
  membershipOf,
  outcomeOf,
  stateOf,
  withKey,
} from './console.ts';

describe('teams.permissions', () => {
  test('are those of the caller’s role, also for a caller who cannot list the roles', async ({ api }) => {
    const [owner, guest, inviter] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    const { id: teamId } = await api.aTeam({ owner });
    const role = await api.aRole({ id: teamId }, ['invite_members']);
    await api.aMember({ id: teamId }, guest, { role: 'guest' });
    await api.aMember({ id: teamId }, inviter, { role: role.id });
    const permissionsOf = async (account: { id: string }) =>
      (await as(api, account)).teams.permissions.query({ teamId });

    expect(await permissionsOf(owner)).toEqual([...PERMISSIONS]);
    expect(await permissionsOf(guest)).toEqual([]);
    expect(await permissionsOf(inviter)).toEqual(['invite_members']);
  });
});

describe('teams.bySlug', () => {
  test('finds the team of an active member, also after a rename, and is a missing team for all others', async ({
    api,
  }) => {
    const [owner, guest, past, other] = [
      await api.anAccount(),
      await api.anAccount(),
      await api.anAccount(),
      await api.anAccount(),
    ];
    const { id: teamId, slug } = await api.aTeam({ owner });
    await api.aMember({ id: teamId }, guest, { role: 'guest' });
    await api.aMember({ id: teamId }, past, { active: false });
    const bySlug = async (account: { id: string }, name = slug) =>
      (await as(api, account)).teams.bySlug.query({ slug: name });

    expect(await bySlug(guest)).toMatchObject({ team: { id: teamId, role: { id: 'guest' } }, permissions: [] });
    const trpc = await as(api, owner);
    const team = await trpc.updateTeam.mutate({ teamId, name: 'Another name' });
    expect(await bySlug(owner)).toEqual({ team, permissions: [...PERMISSIONS] });
    for (const [account, name] of [
      [past, slug],
      [other, slug],
      [owner, teamId],
      [owner, 'nothing'],
    ] as const) {
      expect(await outcomeOf(bySlug(account, name))).toBe('team_not_found');
    }
  });
});

describe('teams.updateDetails', () => {
  test('changes what is given and leaves the rest', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId, name, slug } = await api.aTeam({ owner });
    const { teams, getTeam } = await as(api, owner);
    const avatarUrl = 'https://images.example.com/a%20b.png?size=1';

    const both = await teams.updateDetails.mutate({ teamId, description: 'Who we are', avatarUrl });
    expect(both).toEqual({
      id: teamId,
      name,
      slug,
      description: 'Who we are',
      avatarUrl,
      role: { id: 'owner', name: 'Owner' },
    });
    expect(await getTeam.query({ teamId })).toEqual(both);

    expect(await teams.updateDetails.mutate({ teamId, description: null })).toMatchObject({
      description: null,
      avatarUrl,
    });
    expect(await teams.updateDetails.mutate({ teamId, avatarUrl: null, description: '' })).toMatchObject({
      description: '',
      avatarUrl: null,
    });
    expect(await teams.updateDetails.mutate({ teamId })).toMatchObject({ description: '', avatarUrl: null });
    expect(await getTeam.query({ teamId })).toMatchObject({ name, description: '', avatarUrl: null });
  });

  test.for([
    ['description', 'x'.repeat(1001), 'max_length'],
    ['description', '\u0000', 'invalid_format'],
    ['avatarUrl', 'http://example.com/a.png', 'invalid_format'],
    ['avatarUrl', 'javascript:alert(1)', 'invalid_format'],
    ['avatarUrl', 'data:image/png;base64,AAAA', 'invalid_format'],
    ['avatarUrl', '//example.com/a.png', 'invalid_format'],
    ['avatarUrl', 'https://', 'invalid_format'],
    ['avatarUrl', 'https://example.com/a b', 'invalid_format'],
    ['avatarUrl', 'https://example.com/a\nb', 'invalid_format'],
    ['avatarUrl', `https://example.com/${'x'.repeat(2048)}`, 'max_length'],
  ] as const)('refuses %s %j', async ([field, value, code], { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const before = await stateOf(api, team);

    const problem = await problemOf(
      (await as(api, owner)).teams.updateDetails.mutate({ teamId: team.id, [field]: value }),
    );

    expect(problem).toMatchObject({ code: 'validation_failed', errors: [{ in: 'body', pointer: `/${field}`, code }] });
    expect(await stateOf(api, team)).toEqual(before);
  });

  // Guarantees that a form with both saves both or neither, and that a name alone is a rename.
  test('renames in the same transaction, and says what has changed', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId, slug } = await api.aTeam({ owner });
    const { teams } = await as(api, owner);
    const eventsOf = () =>
      api.rows(`select event from audit_event where team_id = $1 and event like 'team.%ed' order by id`, [teamId]);
    const before = (await eventsOf()).length;

    expect(await teams.updateDetails.mutate({ teamId, name: 'Kites' })).toMatchObject({ name: 'Kites', slug });
    expect((await eventsOf()).slice(before)).toEqual([{ event: 'team.renamed' }]);
    const problem = await problemOf(teams.updateDetails.mutate({ teamId, name: '', description: 'New' }));
    expect(problem.code).toBe('validation_failed');
    expect(await teams.updateDetails.mutate({ teamId, name: 'Kites', description: 'New' })).toMatchObject({
      name: 'Kites',
      description: 'New',
    });
    expect((await eventsOf()).slice(before)).toEqual([{ event: 'team.renamed' }, { event: 'team.updated' }]);
  });

  test('takes the longest there may be, counted in code points', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const details = { description: '🏔'.repeat(1000), avatarUrl: `https://example.com/${'x'.repeat(2048 - 20)}` };

    expect(await (await as(api, owner)).teams.updateDetails.mutate({ teamId, ...details })).toMatchObject(details);
  });
});

describe('teams.leave', () => {
  test('deletes the membership and revokes the keys for the team, and nothing else', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const other = await api.aTeam({ owner: await api.anAccount() });
    const member = await api.anAccount();
    const colleague = await api.anAccount();
    for (const each of [team, other]) await api.aMember(each, member, { role: 'member' });
    await api.aMember(team, colleague, { role: 'member' });
    const ends = await api.anApiKey(member, { team });
    const stays = await Promise.all([
      api.anApiKey(member, { team: other }),
      api.anApiKey(member),
      api.anApiKey(colleague, { team }),
    ]);
    const trpc = await as(api, member);

    expect(await trpc.teams.leave.mutate({ teamId: team.id })).toEqual({ success: true });

    expect(await membershipOf(api, team, member)).toBeUndefined();
    expect((await trpc.listTeams.query()).map(({ id }) => id)).toEqual([other.id]);
    expect(await outcomeOf(trpc.teams.leave.mutate({ teamId: team.id }))).toBe('team_not_found');
    expect(await api.as(ends).get('/api/v1/credential')).toBeProblem('credential_invalid');
    for (const key of stays) expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
  });

  test('takes an offer of the team along', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const nominee = await api.anAccount();
    await api.aMember({ id: teamId }, nominee);
    const { teams } = await as(api, owner);
    await teams.offerOwnership.mutate({ teamId, userId: nominee.id });

    await (await as(api, nominee)).teams.leave.mutate({ teamId });

    expect(await teams.ownershipOffer.query({ teamId })).toBeNull();
  });

  test('is nothing for the owner', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const before = await stateOf(api, team);

    expect(await outcomeOf((await as(api, owner)).teams.leave.mutate({ teamId: team.id }))).toBe('owner_cannot_leave');
    expect(await stateOf(api, team)).toEqual(before);
  });

  test.for([{ active: false }, { expiresAt: inMinutes(-1) }])(
    'whoever does not see the team does not leave it: %j',
    async (state, { api }) => {
      const team = await api.aTeam({ owner: await api.anAccount() });
      const member = await api.anAccount();
      await api.aMember(team, member, state);

      expect(await outcomeOf((await as(api, member)).teams.leave.mutate({ teamId: team.id }))).toBe('team_not_found');
      expect(await memberships(api, team)).toHaveLength(2);
    },
  );
});

describe('teams.delete', () => {
  test('deletes everything of the team, and its keys and links stop working immediately', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const member = await api.anAccount();
    const role = await api.aRole(team, ['access_dashboard']);
    await api.aMember(team, member, { role: role.id });
    await api.aSubscription(team);
    const { token } = await anInvitationWithLink(api, team, { role: role.id });
    await anInvitationWithLink(api, team, { role: role.id, acceptedAt: new Date() });
    const teamKeys = [await api.anApiKey(owner, { team }), await api.anApiKey(member, { team })];
    const personalKey = await api.anApiKey(member);
    const trpc = await as(api, owner);
    await trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id });

    expect(await trpc.teams.delete.mutate({ teamId: team.id })).toEqual({ success: true });

    expect(await outcomeOf(trpc.getTeam.query({ teamId: team.id }))).toBe('team_not_found');
    expect(await outcomeOf(trpc.teams.delete.mutate({ teamId: team.id }))).toBe('team_not_found');
    expect(await outcomeOf(trpc.invitations.read.mutate({ token }))).toBe('link_invalid');
    expect(await (await as(api, member)).listTeams.query()).toEqual([]);
    expect(await (await as(api, member)).teams.ownershipOffers.query()).toEqual([]);
    for (const key of teamKeys) expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect((await api.as(personalKey).get('/api/v1/credential')).status).toBe(200);
    const [left] = await stateOf(api, team);
    expect(left).toEqual({
      team: null,
      memberships: null,
      roles: null,
      invitations: null,
      links: null,
      keys: null,
      offers: null,
      jobs: expect.any(Number),
    });
    expect(await api.rows('select 1 from subscription where team_id = $1', [team.id])).toEqual([]);
  });

  test('is only for the owner, whatever permissions another role has', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const all = [
      'edit_team_settings',
      'access_dashboard',
      'remove_members',
      'invite_members',
      'access_billing',
      'manage_api_keys',
    ] as const;
    const admin = await api.anAccount();
    await api.aMember(team, admin, { role: (await api.aRole(team, all)).id });
    const before = await stateOf(api, team);

    expect(await outcomeOf((await as(api, admin)).teams.delete.mutate({ teamId: team.id }))).toBe('permission_missing');
    expect(await outcomeOf((await as(api, await api.anAccount())).teams.delete.mutate({ teamId: team.id }))).toBe(
      'team_not_found',
    );
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('gives the place of the team under the team limit back', async ({ api }) => {
    const owner = await api.anAccount();
    for (let i = 0; i < 9; i += 1) await api.aTeam({ owner });
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    expect(await outcomeOf(trpc.createTeam.mutate({ name: 'One more' }))).toBe('team_limit_reached');

    await trpc.teams.delete.mutate({ teamId });

    expect(await outcomeOf(trpc.createTeam.mutate({ name: 'One more' }))).toBe('done');
  });
});

test('what a person decides is not open to keys', async ({ api }) => {
  const owner = await api.anAccount();
  const { id: teamId } = await api.aTeam({ owner });
  const { teams } = withKey(api, await api.anApiKey(owner, { scopes: ['teams:read', 'teams:write', 'members:write'] }));

  expect(await outcomeOf(teams.leave.mutate({ teamId }))).toBe('session_required');
  expect(await outcomeOf(teams.delete.mutate({ teamId }))).toBe('session_required');
});
