import { describe, expect, onTestFinished } from 'vitest';
import { startApi, test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, memberships, membershipOf, outcomeOf, ownersOf, stateOf, tally } from './console.ts';

/** A team, its owner and a member, both signed in. */
async function aPair(api: Api, terms: Parameters<Api['aMember']>[2] = { role: 'guest' }) {
  const owner = await api.anAccount();
  const nominee = await api.anAccount({ firstName: 'Nora', lastName: 'Nominee' });
  const team = await api.aTeam({ owner, name: 'Night Owls' });
  await api.aMember(team, nominee, terms);
  const { teams: ofOwner } = await as(api, owner);
  const { teams: ofNominee } = await as(api, nominee);
  return { owner, nominee, team, teamId: team.id, ofOwner, ofNominee };
}

/** Lets the offer of a team run out. */
const expireOffer = (api: Api, team: { id: string }) =>
  api.rows(`update ownership_transfer set expires_at = now() - interval '1 second' where team_id = $1`, [team.id]);

describe('offering', () => {
  test('is visible to the members and the nominee', async ({ api }) => {
    const { nominee, teamId, ofOwner, ofNominee } = await aPair(api);
    expect(await ofOwner.ownershipOffer.query({ teamId })).toBeNull();

    expect(await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id })).toEqual({ success: true });

    const offer = await ofOwner.ownershipOffer.query({ teamId });
    expect(offer?.nominee).toEqual({
      accountId: nominee.id,
      userId: nominee.id,
      email: nominee.email,
      firstName: 'Nora',
      lastName: 'Nominee',
    });
    const days = (Date.parse(offer?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
    expect(await ofNominee.ownershipOffer.query({ teamId })).toEqual(offer);
    expect(await ofNominee.ownershipOffers.query()).toEqual([
      { teamId, teamName: 'Night Owls', expiresAt: offer?.expiresAt },
    ]);
    expect(await ofOwner.ownershipOffers.query()).toEqual([]);
  });

  test('does not reveal the name and address of the nominee to who may not see the members', async ({ api }) => {
    const { nominee, team, teamId, ofOwner } = await aPair(api);
    const [guest, reader] = [await api.anAccount(), await api.anAccount()];
    await api.aMember(team, guest, { role: 'guest' });
    await api.aMember(team, reader, { role: 'member' });
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    const offer = await (await as(api, guest)).teams.ownershipOffer.query({ teamId });
    expect(offer?.nominee).toEqual({
      accountId: nominee.id,
      userId: nominee.id,
      email: null,
      firstName: null,
      lastName: null,
    });
    const seen = await (await as(api, reader)).teams.ownershipOffer.query({ teamId });
    expect(seen?.nominee).toMatchObject({ email: nominee.email, firstName: 'Nora', lastName: 'Nominee' });
  });

  test('emails the nominee', async () => {
    // Of its own, because its worker takes jobs that other tests look at.
    const api = await startApi();
    onTestFinished(() => api.close());
    const { nominee, teamId, ofOwner } = await aPair(api);

    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    expect((await api.mailTo(nominee.email)).text).toContain('“Night Owls”');
  });

  test('to another member replaces the offer', async ({ api }) => {
    const { nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    const second = await api.anAccount();
    await api.aMember(team, second);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    await ofOwner.offerOwnership.mutate({ teamId, userId: second.id });

    expect((await ofOwner.ownershipOffer.query({ teamId }))?.nominee.userId).toBe(second.id);
    expect(await ofNominee.ownershipOffers.query()).toEqual([]);
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
  });

  test('rejects accounts that cannot become the owner, and changes nothing', async ({ api }) => {
    const { owner, team, teamId, ofOwner } = await aPair(api);
    const [inactive, expired, unverified] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.aMember(team, inactive, { active: false });
    await api.aMember(team, expired, { expiresAt: inMinutes(-1) });
    await api.aMember(team, unverified);
    await api.rows('update account set email_verified_at = null where id = $1', [unverified.id]);
    const stranger = await api.anAccount();
    const before = await stateOf(api, team);
    const offer = (userId: string) => outcomeOf(ofOwner.offerOwnership.mutate({ teamId, userId }));

    for (const { id } of [inactive, expired, stranger, { id: 'nobody' }])
      expect(await offer(id)).toBe('member_not_found');
    expect(await offer(unverified.id)).toBe('email_not_verified');
    expect(await problemOf(ofOwner.offerOwnership.mutate({ teamId, accountId: owner.id }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/accountId', code: 'invalid_value' }],
    });
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('and withdrawing are only for the owner', async ({ api }) => {
    const { nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    const before = await stateOf(api, team);

    expect(await outcomeOf(ofNominee.offerOwnership.mutate({ teamId, userId: nominee.id }))).toBe('permission_missing');
    expect(await outcomeOf(ofNominee.withdrawOwnershipOffer.mutate({ teamId }))).toBe('permission_missing');
    expect(await stateOf(api, team)).toEqual(before);
  });
});

describe('accepting', () => {
  test('makes the nominee the owner and the former owner a member, whose keys go on', async ({ api }) => {
    const { owner, nominee, team, teamId, ofOwner, ofNominee } = await aPair(api, {
      role: 'guest',
      expiresAt: inMinutes(60),
    });
    const key = await api.anApiKey(owner, { team, scopes: ['teams:read', 'teams:write'] });
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    expect(await ofNominee.acceptOwnership.mutate({ teamId })).toMatchObject({
      id: teamId,
      name: 'Night Owls',
      role: { id: 'owner', name: 'Owner' },
    });

    expect(await membershipOf(api, team, owner)).toMatchObject({ role_id: 'member', is_active: true });
    // An owner's membership has no end.
    expect(await membershipOf(api, team, nominee)).toMatchObject({
      role_id: 'owner',
      is_active: true,
      expires_at: null,
    });
    expect(await ofNominee.ownershipOffer.query({ teamId })).toBeNull();
    expect(await outcomeOf(ofOwner.delete.mutate({ teamId }))).toBe('permission_missing');
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
    expect(await api.as(key).patch(`/api/v1/teams/${teamId}`, { name: 'Mine' })).toBeProblem('permission_missing');
    expect(await outcomeOf(ofOwner.leave.mutate({ teamId }))).toBe('done');
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
  });

  test('rejects everyone except the nominee, and changes nothing', async ({ api }) => {
    const { owner, nominee, team, teamId, ofOwner } = await aPair(api);
    const member = await api.anAccount();
    await api.aMember(team, member, { role: 'member' });
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    const before = await stateOf(api, team);

    for (const account of [owner, member]) {
      const { teams } = await as(api, account);
      expect(await outcomeOf(teams.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
      expect(await outcomeOf(teams.declineOwnership.mutate({ teamId }))).toBe('transfer_not_found');
    }
    const { teams } = await as(api, await api.anAccount());
    expect(await outcomeOf(teams.acceptOwnership.mutate({ teamId }))).toBe('team_not_found');
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('rejects a nominee who is no longer an active member', async ({ api }) => {
    const { nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    await api.rows('update membership set is_active = false where account_id = $1', [nominee.id]);
    const before = await stateOf(api, team);

    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('team_not_found');
    expect(await ofNominee.ownershipOffers.query()).toEqual([]);
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('is bound by the team limit of the nominee, and the offer stands', async ({ api }) => {
    const { nominee, owner, team, teamId, ofOwner, ofNominee } = await aPair(api);
    for (let i = 0; i < 10; i += 1) await api.aTeam({ owner: nominee });
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    const before = await stateOf(api, team);

    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('team_limit_reached');
    expect(await stateOf(api, team)).toEqual(before);
    expect(await ownersOf(api, team)).toEqual([owner.id]);
  });

  test('frees a place under the team limit of the former owner', async ({ api }) => {
    const { owner, nominee, teamId, ofOwner, ofNominee } = await aPair(api);
    for (let i = 0; i < 9; i += 1) await api.aTeam({ owner });
    const { createTeam } = await as(api, owner);
    expect(await outcomeOf(createTeam.mutate({ name: 'One more' }))).toBe('team_limit_reached');
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    await ofNominee.acceptOwnership.mutate({ teamId });

    expect(await outcomeOf(createTeam.mutate({ name: 'One more' }))).toBe('done');
  });
});

describe('an offer becomes invalid', () => {
  test('when it is withdrawn', async ({ api }) => {
    const { owner, nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    expect(await ofOwner.withdrawOwnershipOffer.mutate({ teamId })).toEqual({ success: true });

    expect(await outcomeOf(ofOwner.withdrawOwnershipOffer.mutate({ teamId }))).toBe('transfer_not_found');
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
    expect(await ofNominee.ownershipOffers.query()).toEqual([]);
    expect(await ownersOf(api, team)).toEqual([owner.id]);
  });

  test('when it is declined', async ({ api }) => {
    const { nominee, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });

    expect(await ofNominee.declineOwnership.mutate({ teamId })).toEqual({ success: true });

    expect(await ofOwner.ownershipOffer.query({ teamId })).toBeNull();
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
    expect(await outcomeOf(ofNominee.declineOwnership.mutate({ teamId }))).toBe('transfer_not_found');
  });

  test('when it has expired, and the next one takes its place', async ({ api }) => {
    const { owner, nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    await expireOffer(api, team);

    expect(await ofOwner.ownershipOffer.query({ teamId })).toBeNull();
    expect(await ofNominee.ownershipOffers.query()).toEqual([]);
    expect(
      await tally([
        ofNominee.acceptOwnership.mutate({ teamId }),
        ofNominee.declineOwnership.mutate({ teamId }),
        ofOwner.withdrawOwnershipOffer.mutate({ teamId }),
      ]),
    ).toEqual({ transfer_not_found: 3 });
    expect(await ownersOf(api, team)).toEqual([owner.id]);

    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('done');
  });

  test('when the nominee is removed, also for one who comes back', async ({ api }) => {
    const { owner, nominee, team, teamId, ofOwner, ofNominee } = await aPair(api);
    await ofOwner.offerOwnership.mutate({ teamId, userId: nominee.id });
    const remover = await api.anApiKey(owner, { scopes: ['members:write'] });

    expect((await api.as(remover).delete(`/api/v1/teams/${teamId}/members/${nominee.id}`)).status).toBe(200);

    expect(await ofOwner.ownershipOffer.query({ teamId })).toBeNull();
    await api.aMember(team, nominee);
    expect(await outcomeOf(ofNominee.acceptOwnership.mutate({ teamId }))).toBe('transfer_not_found');
    expect(await memberships(api, team)).toHaveLength(2);
  });
});
