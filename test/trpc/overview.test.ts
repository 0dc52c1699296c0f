import { describe, expect } from 'vitest';
import { PERMISSIONS, type Permission } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { as, inMinutes } from './console.ts';

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
