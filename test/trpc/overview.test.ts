import { describe, expect } from 'vitest';
import { firstIdAt, newId, PERMISSIONS, SCOPES, type Permission } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { as, inMinutes, outcomeOf, withKey } from './console.ts';

/** A team with two members, three pending invitations and one key that count, and others of each that do not. */
async function aTeamInNumbers(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aMember(team, await api.anAccount(), { expiresAt: inMinutes(60) });
  await api.aMember(team, await api.anAccount(), { active: false });
  await api.aMember(team, await api.anAccount(), { expiresAt: inMinutes(-1) });
  for (let pending = 0; pending < 3; pending += 1) await api.anInvitation(team);
  await api.anInvitation(team, { expiresAt: inMinutes(-1) });
  await api.anInvitation(team, { acceptedAt: new Date() });
  await api.anApiKey(owner, { team });
  await api.anApiKey(owner, { team, revoked: true });
  await api.anApiKey(owner);
  return { owner, team, teamId: team.id };
}

describe('teams.sizes', () => {
  test('counts the active members of the user’s own teams, where their role can list them', async ({ api }) => {
    const { owner, team } = await aTeamInNumbers(api);
    await aTeamInNumbers(api);
    const other = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(other, owner, { role: 'guest' });
    const guests = await api.aRole(other, ['invite_members']);
    const inviter = await api.anAccount();
    await api.aMember(other, inviter, { role: guests.id });

    const sizes = await (await as(api, owner)).teams.sizes.query();
    expect(sizes).toEqual([{ id: team.id, members: 2 }]);
    expect(await (await as(api, inviter)).teams.sizes.query()).toEqual([]);
    await api.rows('update membership set is_active = false where account_id = $1', [owner.id]);
    expect(await (await as(api, owner)).teams.sizes.query()).toEqual([]);
  });

  test('requires a signed-in user, and looks at no more teams than there are cards', async ({ api }) => {
    const owner = await api.anAccount();
    const key = await api.anApiKey(owner, { scopes: SCOPES });
    expect(await outcomeOf(api.visitor().trpc.teams.sizes.query())).toBe('credential_missing');
    expect(await outcomeOf(withKey(api, key).teams.sizes.query())).toBe('session_required');
    for (let count = 0; count < 10; count += 1) await api.aTeam({ owner });
    expect(await (await as(api, owner)).teams.sizes.query()).toHaveLength(8);
  });
});

describe('teams.overview', () => {
  test('counts active members, pending invitations and keys, whatever other teams have', async ({ api }) => {
    const { owner, teamId } = await aTeamInNumbers(api);
    await aTeamInNumbers(api);

    expect(await (await as(api, owner)).teams.overview.query({ teamId })).toEqual({
      members: 2,
      invitations: 3,
      apiKeys: 1,
      expiringKeys: 0,
      taken: 5,
      seats: 5,
      planName: 'Free',
    });
  });

  // Guarantees that the overview agrees with the pages that it leads to.
  test('has as many of each as their lists', async ({ api }) => {
    const { owner, team, teamId } = await aTeamInNumbers(api);
    await api.aSubscription(team, { seats: 3 });
    await api.anApiKey(owner, { team, expiresAt: inMinutes(-1) });
    await api.anApiKey(owner, { team, expiresAt: inMinutes(13 * 24 * 60) });
    await api.anApiKey(owner, { team, expiresAt: inMinutes(13 * 24 * 60), revoked: true });
    await api.anApiKey(owner, { team, expiresAt: inMinutes(15 * 24 * 60) });
    const trpc = await as(api, owner);
    const { members, invitations, apiKeys, expiringKeys, ...seats } = await trpc.teams.overview.query({ teamId });

    expect(members).toBe((await trpc.listTeamMembers.query({ teamId })).filter(({ isActive }) => isActive).length);
    expect(invitations).toBe((await trpc.listTeamInvitations.query({ teamId })).length);
    expect(apiKeys).toBe((await trpc.apiKeys.list.query({ teamId })).length);
    expect(expiringKeys).toBe(1);
    expect(seats).toEqual(await trpc.teams.seats.query({ teamId }));
  });

  test.for<[Permission, 'members' | 'invitations' | 'apiKeys' | 'expiringKeys']>([
    ['access_dashboard', 'members'],
    ['invite_members', 'invitations'],
    ['manage_api_keys', 'apiKeys'],
    ['manage_api_keys', 'expiringKeys'],
  ])('a number is told to whoever holds %s, and to nobody else', async ([permission, field], { api }) => {
    const { team, teamId } = await aTeamInNumbers(api);
    const [holder, other] = [await api.anAccount(), await api.anAccount()];
    await api.aMember(team, holder, { role: (await api.aRole(team, [permission])).id });
    const allOthers = PERMISSIONS.filter((each) => each !== permission);
    await api.aMember(team, other, { role: (await api.aRole(team, allOthers)).id });

    const hidden = { members: null, invitations: null, apiKeys: null, expiringKeys: null };
    const told = permission === 'manage_api_keys' ? { apiKeys: 1, expiringKeys: 0 } : {};
    const seen = await (await as(api, holder)).teams.overview.query({ teamId });
    expect(seen).toEqual({
      taken: 7,
      seats: 5,
      planName: 'Free',
      ...hidden,
      ...told,
      [field]: expect.any(Number) as number,
    });
    expect((await (await as(api, other)).teams.overview.query({ teamId }))[field]).toBeNull();
  });
});

describe('members.history', () => {
  const event = (api: Api, name: string, at: Date, team: { id: string }, account: { id: string }) =>
    api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, team_id, account_id, details)
       values ($1, $2, $3, 'system', $4, $5, '{}')`,
      [firstIdAt('evt', at).slice(0, -8) + newId('evt').slice(-8), at, name, team.id, account.id],
    );

  // Guarantees that the plot ends with the present number, and that who left is counted until then.
  test('counts the memberships of each day, also those that ended since', async ({ api }) => {
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.rows('update team set created_at = $2 where id = $1', [team.id, ago(50)]);
    await api.rows('update membership set joined_at = $2 where team_id = $1', [team.id, ago(50)]);
    const [present, returned, left, older] = await Promise.all(Array.from({ length: 4 }, () => api.anAccount()));
    if (!present || !returned || !left || !older) throw new Error('no accounts');
    await api.aMember(team, present, { active: false });
    await api.aMember(team, returned);
    await api.rows('update membership set joined_at = $2 where team_id = $1 and account_id = any($3)', [
      team.id,
      ago(3),
      [present.id, returned.id],
    ]);
    await event(api, 'invitation.accepted', ago(20), team, left);
    await event(api, 'member.left', ago(10), team, left);
    await event(api, 'member.removed', ago(15), team, older);
    await event(api, 'member.added', ago(25), team, returned);
    await event(api, 'member.removed', ago(12), team, returned);
    await event(api, 'member.added', ago(3), team, returned);
    // Of another team.
    await event(api, 'member.removed', ago(5), await api.aTeam({ owner }), present);

    const history = await (await as(api, owner)).members.history.query({ teamId: team.id });
    expect(history).toHaveLength(30);
    expect(history.at(-1)?.day).toBe(new Date().toISOString().slice(0, 10));
    const byAge = history.map(({ members }) => members).toReversed();
    const expected = (age: number): number =>
      1 + Number(age > 15) + Number(age <= 20 && age > 10) + Number(age <= 25 && age > 12) + (age <= 3 ? 2 : 0);
    expect(byAge).toEqual(byAge.map((_, age) => expected(age)));
  });

  test('begins with the team, and is denied to guests', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const teamId = team.id;
    expect(await (await as(api, owner)).members.history.query({ teamId })).toEqual([
      { day: new Date().toISOString().slice(0, 10), members: 1 },
    ]);
    const guest = await api.anAccount();
    await api.aMember(team, guest, { role: 'guest' });
    expect(await outcomeOf((await as(api, guest)).members.history.query({ teamId }))).toBe('permission_missing');
  });
});
