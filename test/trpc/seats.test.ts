import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { as, inMinutes, outcomeOf } from './console.ts';

/** A team with members and invitations that take a seat each, and others that do not. */
async function aTeamOfThree(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.aMember(team, await api.anAccount(), { expiresAt: inMinutes(60) });
  await api.aMember(team, await api.anAccount(), { active: false });
  await api.aMember(team, await api.anAccount(), { expiresAt: inMinutes(-1) });
  await api.anInvitation(team);
  await api.anInvitation(team, { expiresAt: inMinutes(-1) });
  await api.anInvitation(team, { acceptedAt: new Date() });
  return { owner, team, teamId: team.id, trpc: await as(api, owner) };
}

describe('teams.seats', () => {
  test('counts active members and pending invitations, whatever other teams have', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfThree(api);
    await aTeamOfThree(api);

    expect(await trpc.teams.seats.query({ teamId })).toEqual({ taken: 3, seats: 5, planName: 'Free' });
  });

  test('has the seats of the plan and of the add-on', async ({ api }) => {
    const { team, teamId, trpc } = await aTeamOfThree(api);
    await api.aSubscription(team, { plan: 'pro', seats: 3 });

    expect(await trpc.teams.seats.query({ teamId })).toEqual({ taken: 3, seats: 53, planName: 'Pro' });
  });

  test('a plan that left the configuration gives the seats of the default plan', async ({ api }) => {
    const { team, teamId, trpc } = await aTeamOfThree(api);
    await api.aSubscription(team, { plan: 'gold', seats: 2 });

    expect(await trpc.teams.seats.query({ teamId })).toEqual({ taken: 3, seats: 7, planName: 'gold' });
  });

  test('more can be taken than there are, after a downgrade', async ({ api }) => {
    const { team, teamId, trpc } = await aTeamOfThree(api);
    for (let i = 0; i < 4; i += 1) await api.anInvitation(team);

    expect(await trpc.teams.seats.query({ teamId })).toMatchObject({ taken: 7, seats: 5 });
  });

  // Guarantees that the shown number and the enforced limit cannot differ.
  test('reports no free seat exactly when no invitation can be created', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfThree(api);
    const invite = (email: string) => outcomeOf(trpc.createTeamInvitation.mutate({ teamId, email }));

    expect([await invite('a@example.com'), await invite('b@example.com')]).toEqual(['done', 'done']);
    expect(await trpc.teams.seats.query({ teamId })).toMatchObject({ taken: 5, seats: 5 });
    expect(await invite('c@example.com')).toBe('seat_limit_reached');
    expect(await trpc.teams.seats.query({ teamId })).toMatchObject({ taken: 5, seats: 5 });
  });

  test('is visible to every active member, also to a guest', async ({ api }) => {
    const { team, teamId } = await aTeamOfThree(api);
    const guest = await api.anAccount();
    await api.aMember(team, guest);

    expect(await (await as(api, guest)).teams.seats.query({ teamId })).toMatchObject({ taken: 4 });
  });
});
