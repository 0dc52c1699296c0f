import { describe, expect } from 'vitest';
import { PERMISSIONS, SCOPES, type Permission, type Scope } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, membershipOf, outcomeOf, stateOf, withKey } from './console.ts';

/** A team whose caller holds some permissions, and a member with a role of others. */
async function aScene(
  api: Api,
  {
    holding,
    above = [],
    terms = {},
  }: { holding: readonly Permission[]; above?: readonly Permission[]; terms?: object },
) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const caller = await api.anAccount();
  const member = await api.anAccount({ firstName: 'Max', lastName: 'Member' });
  await api.aMember(team, caller, { role: (await api.aRole(team, holding)).id });
  const role = await api.aRole(team, above);
  await api.aMember(team, member, { role: role.id, ...terms });
  const trpc = await as(api, caller);
  return { owner, team, teamId: team.id, caller, member, userId: member.id, role, trpc, members: trpc.members };
}

/** Takes all seats of the default plan but `free`. */
async function fill(api: Api, team: { id: string }, free = 0) {
  const [row] = await api.rows<{ taken: number }>(
    `select (select count(*) from membership where team_id = $1 and is_active and (expires_at is null or expires_at > now()))::int
       + (select count(*) from invitation where team_id = $1 and accepted_at is null and expires_at > now())::int as taken`,
    [team.id],
  );
  for (let taken = row?.taken ?? 0; taken < 5 - free; taken += 1) await api.anInvitation(team);
}

describe('members.list', () => {
  // Guarantees that it is the list of REST with the name of the id everywhere else, and the end, in the same order.
  test('shows what listTeamMembers shows, and when each membership ends', async ({ api }) => {
    const { team, teamId, caller, member, owner, trpc } = await aScene(api, {
      holding: ['access_dashboard'],
      terms: { expiresAt: new Date('2099-01-31T22:59:59Z') },
    });
    const [past, inactive] = [await api.anAccount(), await api.anAccount()];
    const ended = inMinutes(-1);
    await api.aMember(team, past, { expiresAt: ended });
    await api.aMember(team, inactive, { active: false });
    await api.aMember(await api.aTeam(), await api.anAccount());

    const members = await trpc.members.list.query({ teamId });

    const ends = [null, null, '2099-01-31T22:59:59.000Z', ended.toISOString(), null];
    expect(members).toEqual(
      (await trpc.listTeamMembers.query({ teamId })).map((each, index) => ({
        ...each,
        accountId: each.userId,
        expiresAt: ends[index],
      })),
    );
    expect(members.map(({ userId, isActive }) => [userId, isActive])).toEqual([
      [owner.id, true],
      [caller.id, true],
      [member.id, true],
      [past.id, false],
      [inactive.id, false],
    ]);
  });

  // Guarantees that it returns no data that listTeamMembers does not.
  test.for([
    ['the owner', { role: 'owner' }, 'done'],
    ['a member', { role: 'member' }, 'done'],
    ['a guest', { role: 'guest' }, 'permission_missing'],
    ['an inactive member', { role: 'member', active: false }, 'team_not_found'],
    ['an expired member', { role: 'member', expiresAt: inMinutes(-1) }, 'team_not_found'],
    ['a stranger', undefined, 'team_not_found'],
  ] as const)('%s has the outcome of listTeamMembers', async ([, terms, outcome], { api }) => {
    const team = await api.aTeam();
    const caller = await api.anAccount();
    if (terms !== undefined) await api.aMember(team, caller, terms);
    const trpc = await as(api, caller);

    expect(await outcomeOf(trpc.members.list.query({ teamId: team.id }))).toBe(outcome);
    expect(await outcomeOf(trpc.listTeamMembers.query({ teamId: team.id }))).toBe(outcome);
  });

  test('needs the one permission and the one scope', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam();
    const others = PERMISSIONS.filter((permission) => permission !== 'access_dashboard');
    await api.aMember(team, account, { role: (await api.aRole(team, others)).id });
    const mine = await api.aTeam({ owner: account });
    const list = async (scopes: readonly Scope[], { id }: { id: string }, of?: { id: string }) =>
      outcomeOf(
        withKey(api, await api.anApiKey(account, of ? { scopes, team: of } : { scopes })).members.list.query({
          teamId: id,
        }),
      );

    expect(await list(SCOPES, team)).toBe('permission_missing');
    expect(await list(['members:read'], mine)).toBe('done');
    expect(await list(['members:read'], mine, mine)).toBe('done');
    expect(await list(['members:read'], mine, team)).toBe('team_not_found');
    const rest = SCOPES.filter((scope) => scope !== 'members:read');
    expect(await list(rest, mine)).toBe('scope_missing');
    expect(await list(rest, { id: 'nothing' })).toBe('scope_missing');
    expect(await outcomeOf(api.visitor().trpc.members.list.query({ teamId: mine.id }))).toBe('credential_missing');
  });
});

describe('members.setRole', () => {
  test('gives another role, which the next call of the member has', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, {
      holding: ['edit_team_settings', 'invite_members'],
    });
    const role = await api.aRole(team, ['invite_members']);
    const trpc = await as(api, member);
    expect(await outcomeOf(trpc.createTeamInvitation.mutate({ teamId, email: 'a@example.com', roleId: 'guest' }))).toBe(
      'permission_missing',
    );

    const answer = await members.setRole.mutate({ teamId, userId, roleId: role.id });

    expect(answer).toEqual({
      membershipId: expect.stringMatching(/^mem_/),
      accountId: userId,
      userId,
      email: member.email,
      firstName: 'Max',
      lastName: 'Member',
      avatar: null,
      roleId: role.id,
      roleName: role.id,
      isSystemRole: false,
      isActive: true,
      joinedAt: expect.stringMatching(/Z$/),
    });
    expect(await outcomeOf(trpc.createTeamInvitation.mutate({ teamId, email: 'a@example.com', roleId: 'guest' }))).toBe(
      'done',
    );
  });

  test('answers the member as the list shows them', async ({ api }) => {
    const { owner, teamId, userId } = await aScene(api, { holding: [] });
    const trpc = await as(api, owner);

    const answer = await trpc.members.setRole.mutate({ teamId, userId, roleId: 'guest' });

    const shown = (await trpc.members.list.query({ teamId })).find(({ accountId }) => accountId === userId);
    expect({ ...answer, expiresAt: null }).toEqual(shown);
    expect(answer).toMatchObject({ roleId: 'guest', roleName: 'Guest', isSystemRole: true });
  });

  // Guarantees that no role above the caller's own is assigned or replaced, and that no one becomes owner by it.
  test('rejects roles above the caller’s, to assign and to replace, and unknown ones; nothing changes', async ({
    api,
  }) => {
    const { team, teamId, userId, caller, members } = await aScene(api, {
      holding: ['edit_team_settings', 'access_dashboard'],
    });
    const above = await api.aRole(team, ['access_dashboard', 'access_billing']);
    const strong = await api.anAccount();
    await api.aMember(team, strong, { role: above.id });
    const foreign = await api.aRole(await api.aTeam(), []);
    const before = await stateOf(api, team);
    const set = (of: string, roleId: string) => members.setRole.mutate({ teamId, userId: of, roleId });

    expect(await outcomeOf(set(userId, above.id))).toBe('role_not_assignable');
    expect(await outcomeOf(set(caller.id, above.id))).toBe('role_not_assignable');
    expect(await outcomeOf(set(userId, 'owner'))).toBe('role_not_assignable');
    expect(await problemOf(set(strong.id, 'guest'))).toMatchObject({
      code: 'permission_missing',
      detail: expect.stringContaining('access_billing'),
    });
    for (const roleId of [foreign.id, 'nothing', '\u00e9', 'x'.repeat(255)]) {
      expect(await problemOf(set(userId, roleId))).toMatchObject({
        code: 'validation_failed',
        errors: [{ in: 'body', pointer: '/roleId', code: 'invalid_value' }],
      });
    }
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('does not change the owner, also not for the owner', async ({ api }) => {
    const { owner, team, teamId, members } = await aScene(api, { holding: ['edit_team_settings'] });
    const before = await stateOf(api, team);

    for (const { setRole } of [members, (await as(api, owner)).members]) {
      expect(await outcomeOf(setRole.mutate({ teamId, userId: owner.id, roleId: 'member' }))).toBe(
        'owner_not_removable',
      );
    }
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('of oneself to a smaller role holds for one’s own next call', async ({ api }) => {
    const { teamId, caller, members } = await aScene(api, { holding: ['edit_team_settings'] });

    await members.setRole.mutate({ teamId, userId: caller.id, roleId: 'guest' });

    expect(await outcomeOf(members.setRole.mutate({ teamId, userId: caller.id, roleId: 'guest' }))).toBe(
      'permission_missing',
    );
  });
});

describe('members.deactivate and members.activate', () => {
  test('remove and restore access to the team, with the keys the member created', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, { holding: ['remove_members'] });
    const key = await api.anApiKey(member, { team });
    const { getTeam } = await as(api, member);

    expect(await members.deactivate.mutate({ teamId, userId })).toMatchObject({ userId, isActive: false });
    expect(await outcomeOf(getTeam.query({ teamId }))).toBe('team_not_found');
    expect(await api.as(key).get(`/api/v1/teams/${teamId}`)).toBeProblem('team_not_found');
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
    expect(await members.deactivate.mutate({ teamId, userId })).toMatchObject({ isActive: false });

    expect(await members.activate.mutate({ teamId, userId })).toMatchObject({ userId, isActive: true });
    expect(await outcomeOf(getTeam.query({ teamId }))).toBe('done');
    expect((await api.as(key).get(`/api/v1/teams/${teamId}`)).status).toBe(200);
  });

  test('activating an expired membership takes its end away', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, {
      holding: ['remove_members'],
      terms: { expiresAt: inMinutes(-1) },
    });

    expect(await members.activate.mutate({ teamId, userId })).toMatchObject({ isActive: true });
    expect(await membershipOf(api, team, member)).toMatchObject({ is_active: true, expires_at: null });
  });

  test('activating keeps an end that is still to come', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, {
      holding: ['remove_members'],
      terms: { active: false, expiresAt: inMinutes(60) },
    });

    expect(await members.activate.mutate({ teamId, userId })).toMatchObject({ isActive: true });
    expect(await membershipOf(api, team, member)).toMatchObject({ is_active: true, expires_at: expect.any(String) });
  });

  test.for([{ active: false }, { expiresAt: inMinutes(-1) }])(
    'activating needs a free seat: %j',
    async (terms, { api }) => {
      const { team, teamId, userId, members } = await aScene(api, { holding: ['remove_members'], terms });
      await fill(api, team);
      const before = await stateOf(api, team);

      expect(await outcomeOf(members.activate.mutate({ teamId, userId }))).toBe('seat_limit_reached');
      expect(await stateOf(api, team)).toEqual(before);

      await api.rows('delete from invitation where id = (select id from invitation where team_id = $1 limit 1)', [
        teamId,
      ]);
      expect(await outcomeOf(members.activate.mutate({ teamId, userId }))).toBe('done');
    },
  );

  test('activating who is active needs none, also above the limit', async ({ api }) => {
    const { team, teamId, userId, members } = await aScene(api, { holding: ['remove_members'] });
    await fill(api, team, -2);

    expect(await members.activate.mutate({ teamId, userId })).toMatchObject({ isActive: true });
  });

  test('deactivating frees a seat', async ({ api }) => {
    const { owner, team, teamId, userId, members } = await aScene(api, { holding: ['remove_members'] });
    await fill(api, team);
    const { createTeamInvitation } = await as(api, owner);
    expect(await outcomeOf(createTeamInvitation.mutate({ teamId, email: 'one.more@example.com' }))).toBe(
      'seat_limit_reached',
    );

    await members.deactivate.mutate({ teamId, userId });

    expect(await outcomeOf(createTeamInvitation.mutate({ teamId, email: 'one.more@example.com' }))).toBe('done');
    expect(await outcomeOf(members.activate.mutate({ teamId, userId }))).toBe('seat_limit_reached');
  });
});

describe('members.setExpiry', () => {
  test('sets and clears the end of a membership', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, { holding: ['remove_members'] });
    const end = inMinutes(60).toISOString();

    expect(await members.setExpiry.mutate({ teamId, userId, expiresAt: end })).toMatchObject({ isActive: true });
    expect(new Date((await membershipOf(api, team, member))?.expires_at ?? '').toISOString()).toBe(end);
    expect(await members.setExpiry.mutate({ teamId, userId, expiresAt: null })).toMatchObject({ isActive: true });
    expect(await membershipOf(api, team, member)).toMatchObject({ expires_at: null });
  });

  test('takes an instant in any zone', async ({ api }) => {
    const { team, teamId, member, userId, members } = await aScene(api, { holding: ['remove_members'] });

    await members.setExpiry.mutate({ teamId, userId, expiresAt: '2099-01-01T02:00:00+02:00' });

    expect(new Date((await membershipOf(api, team, member))?.expires_at ?? '').toISOString()).toBe(
      '2099-01-01T00:00:00.000Z',
    );
  });

  test.for([
    ['2020-01-01T00:00:00Z', 'invalid_value'],
    ['tomorrow', 'invalid_format'],
    ['2099-01-01', 'invalid_format'],
    ['', 'invalid_format'],
    [4_102_444_800_000, 'invalid_type'],
    [undefined, 'required'],
  ])('refuses %j', async ([expiresAt, code], { api }) => {
    const { team, teamId, userId, members } = await aScene(api, { holding: ['remove_members'] });
    const before = await stateOf(api, team);

    expect(await problemOf(members.setExpiry.mutate({ teamId, userId, expiresAt: expiresAt as string }))).toMatchObject(
      {
        code: 'validation_failed',
        errors: [{ in: 'body', pointer: '/expiresAt', code }],
      },
    );
    expect(await stateOf(api, team)).toEqual(before);
  });

  test.for([null, inMinutes(60).toISOString()])(
    'bringing an expired membership back, to %s, needs a free seat',
    async (expiresAt, { api }) => {
      const { team, teamId, userId, members } = await aScene(api, {
        holding: ['remove_members'],
        terms: { expiresAt: inMinutes(-1) },
      });
      await fill(api, team);
      const before = await stateOf(api, team);

      expect(await outcomeOf(members.setExpiry.mutate({ teamId, userId, expiresAt }))).toBe('seat_limit_reached');
      expect(await stateOf(api, team)).toEqual(before);

      await api.rows('delete from invitation where id = (select id from invitation where team_id = $1 limit 1)', [
        teamId,
      ]);
      expect(await members.setExpiry.mutate({ teamId, userId, expiresAt })).toMatchObject({ isActive: true });
    },
  );

  test('of who stays inactive needs none', async ({ api }) => {
    const { team, teamId, userId, members } = await aScene(api, {
      holding: ['remove_members'],
      terms: { active: false, expiresAt: inMinutes(-1) },
    });
    await fill(api, team);

    expect(await members.setExpiry.mutate({ teamId, userId, expiresAt: null })).toMatchObject({ isActive: false });
  });
});

describe('whose membership can be changed', () => {
  test('by who may remove the member; with a role above one’s own, it ends or ends earlier, and no more', async ({
    api,
  }) => {
    const { team, teamId, userId, members } = await aScene(api, {
      holding: ['remove_members'],
      above: ['access_billing'],
    });
    const setExpiry = (minutes: number | null) =>
      outcomeOf(
        members.setExpiry.mutate({
          teamId,
          userId,
          expiresAt: minutes === null ? null : inMinutes(minutes).toISOString(),
        }),
      );

    expect(await setExpiry(60)).toBe('done');
    expect(await setExpiry(30)).toBe('done');
    const before = await stateOf(api, team);
    expect(await setExpiry(60)).toBe('role_not_assignable');
    expect(await setExpiry(null)).toBe('role_not_assignable');
    expect(await stateOf(api, team)).toEqual(before);
    expect(await members.deactivate.mutate({ teamId, userId })).toMatchObject({ isActive: false });
    expect(await setExpiry(20)).toBe('done');
    expect(await outcomeOf(members.activate.mutate({ teamId, userId }))).toBe('role_not_assignable');
    expect(await membershipOf(api, team, { id: userId })).toMatchObject({ is_active: false });
  });

  test('not the owner’s, not that of another team', async ({ api }) => {
    const { owner, team, teamId, members } = await aScene(api, { holding: ['remove_members'] });
    const stranger = await api.anAccount();
    await api.aMember(await api.aTeam(), stranger);
    const before = await stateOf(api, team);
    const changes = (of: string) => [
      members.activate.mutate({ teamId, userId: of }),
      members.deactivate.mutate({ teamId, userId: of }),
      members.setExpiry.mutate({ teamId, userId: of, expiresAt: inMinutes(60).toISOString() }),
    ];
    const outcomes = async (of: string) => new Set(await Promise.all(changes(of).map(outcomeOf)));

    expect(await outcomes(owner.id)).toEqual(new Set(['owner_not_removable']));
    expect(await outcomes(stranger.id)).toEqual(new Set(['member_not_found']));
    expect(await outcomes('nobody')).toEqual(new Set(['member_not_found']));
    expect(await stateOf(api, team)).toEqual(before);
  });
});

describe('members.removalPreviews', () => {
  test('add up what the previews of each member list, without the owner and who is none', async ({ api }) => {
    const { owner, team, teamId, member, userId, members } = await aScene(api, { holding: ['remove_members'] });
    const second = await api.anAccount();
    await api.aMember(team, second, { role: 'member' });
    for (const account of [member, second, owner]) await api.anApiKey(account, { team });
    await api.aGrant(second, { team });
    for (const account of [member, second, owner]) {
      const { id } = await api.anInvitation(team);
      await api.rows('update invitation set invited_by_id = $2 where id = $1', [id, account.id]);
    }
    const [first, other] = [
      await members.removalPreview.query({ teamId, accountId: userId }),
      await members.removalPreview.query({ teamId, accountId: second.id }),
    ];

    const accountIds = [userId, owner.id, 'acc_none', second.id, userId];
    expect(await members.removalPreviews.query({ teamId, accountIds })).toEqual({
      apiKeys: [...first.apiKeys, ...other.apiKeys],
      oauthGrants: 1,
      ownershipOffer: false,
      invitations: [...first.invitations, ...other.invitations],
    });
    expect([first.apiKeys.length, first.invitations.length, other.invitations.length]).toEqual([1, 1, 1]);
  });
});

describe('members.removalPreview', () => {
  // Guarantees that the preview is neither short nor long: what it names stops, and nothing else does.
  test('names exactly the keys that stop, and counts the grants', async ({ api }) => {
    const { owner, team, teamId, member, userId, trpc, members } = await aScene(api, { holding: ['remove_members'] });
    const stopping = [
      await api.anApiKey(member, { team }),
      await api.anApiKey(member, { team, expiresAt: inMinutes(60) }),
    ];
    await api.anApiKey(member, { team, revoked: true });
    await api.anApiKey(member, { team, expiresAt: inMinutes(-1) });
    const other = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(other, member);
    const going = [
      await api.anApiKey(member),
      await api.anApiKey(member, { team: other }),
      await api.anApiKey(owner, { team }),
      await api.aGrant(member),
      await api.aGrant(member, { team: other }),
      await api.aGrant(owner, { team }),
    ];
    const ending = [await api.aGrant(member, { team }), await api.aGrant(member, { team, expiresAt: inMinutes(60) })];
    await api.aGrant(member, { team, expiresAt: inMinutes(-1) });
    const revoked = await api.aGrant(member, { team });
    await api.rows('update oauth_grant set revoked_at = now() where id = $1', [revoked.id]);

    const preview = await members.removalPreview.query({ teamId, userId });

    expect(preview).toEqual({
      apiKeys: stopping.map(({ id, secret }) => ({ id, name: 'A key', last4: secret.slice(-4) })),
      oauthGrants: 2,
      ownershipOffer: false,
      invitations: [],
    });
    await trpc.removeTeamMember.mutate({ teamId, userId });
    for (const key of [...stopping, ...ending])
      expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
    for (const key of going) expect((await api.as(key).get('/api/v1/credential')).status).toBe(200);
  });

  test('includes an open offer of the team', async ({ api }) => {
    const { owner, teamId, userId, members } = await aScene(api, { holding: ['remove_members'] });
    await (await as(api, owner)).teams.offerOwnership.mutate({ teamId, userId });

    expect(await members.removalPreview.query({ teamId, userId })).toMatchObject({ apiKeys: [], ownershipOffer: true });
    await api.rows(`update ownership_transfer set expires_at = now() - interval '1 second' where team_id = $1`, [
      teamId,
    ]);
    expect(await members.removalPreview.query({ teamId, userId })).toMatchObject({
      apiKeys: [],
      ownershipOffer: false,
    });
  });

  test('includes whoever can be removed, and changes nothing', async ({ api }) => {
    const { owner, team, teamId, userId, members } = await aScene(api, {
      holding: ['remove_members'],
      above: ['access_billing'],
      terms: { active: false },
    });
    const before = await stateOf(api, team);

    expect(await outcomeOf(members.removalPreview.query({ teamId, userId }))).toBe('done');
    expect(await outcomeOf(members.removalPreview.query({ teamId, userId: owner.id }))).toBe('owner_not_removable');
    expect(await outcomeOf(members.removalPreview.query({ teamId, userId: (await api.anAccount()).id }))).toBe(
      'member_not_found',
    );
    expect(await stateOf(api, team)).toEqual(before);
  });
});
