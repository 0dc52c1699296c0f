import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';

const SCOPES = ['invites:write', 'members:read'] as const;

async function aTeamWithOwner(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: SCOPES });
  return { owner, team, key, path: `/api/v1/teams/${team.id}/invitations` };
}

const DAY_MS = 86_400_000;

describe('createTeamInvitation', () => {
  test('201: a pending invitation for seven days, the role member unless said otherwise', async ({ api }) => {
    const { key, path } = await aTeamWithOwner(api);

    const { status, body } = await api.as(key).post(path, { email: 'New.Person@Example.com' });
    const [invitation] = (await api.as(key).get(path)).body;

    expect([status, body]).toEqual([201, { success: true }]);
    expect(invitation).toMatchObject({
      email: 'New.Person@Example.com',
      roleId: 'member',
      roleName: 'Member',
      isSystemRole: true,
    });
    expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBeCloseTo(7 * DAY_MS, -4);
  });

  test('201: to a team-defined role, with its flag', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const role = await api.aRole(team, ['access_billing']);

    expect(
      (await api.as(key).post(path, { email: 'a@example.com', roleId: role.id, isSystemRole: false })).status,
    ).toBe(201);
    expect((await api.as(key).get(path)).body).toMatchObject([{ roleId: role.id, isSystemRole: false }]);
  });

  // Guarantees that the answer reveals nothing of an address (spec 4.14).
  test('201: a member’s address answers, lists and counts like any other', async ({ api }) => {
    const { owner, key, path } = await aTeamWithOwner(api);

    const known = await api.as(key).post(path, { email: owner.email });
    const unknown = await api.as(key).post(path, { email: 'nobody@example.com' });

    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    expect((await api.as(key).get(path)).body).toHaveLength(2);
  });

  test('201: an address that is invited again keeps its id and seat, and gets the new role and time', async ({
    api,
  }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    await api.as(key).post(path, { email: 'same@example.com' });
    const [first] = (await api.as(key).get(path)).body;
    for (const email of ['b@example.com', 'c@example.com', 'd@example.com']) await api.as(key).post(path, { email });

    const again = await api.as(key).post(path, { email: 'SAME@example.com', roleId: 'guest' });
    const list = (await api.as(key).get(path)).body;

    expect(again.status).toBe(201);
    expect(list).toHaveLength(4);
    expect(list[0]).toMatchObject({
      id: first.id,
      email: 'SAME@example.com',
      roleId: 'guest',
      createdAt: first.createdAt,
    });
    expect(list[0].expiresAt >= first.expiresAt).toBe(true);
    expect(
      await api.rows(
        `select 1 from invitation_link l join invitation i on i.id = l.invitation_id where i.team_id = $1`,
        [team.id],
      ),
    ).toHaveLength(5);
  });

  test('201: an expired invitation of the address gives way to a new one', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const old = await api.anInvitation(team, { email: 'late@example.com', expiresAt: new Date(Date.now() - 1000) });

    expect((await api.as(key).post(path, { email: 'late@example.com' })).status).toBe(201);
    const [invitation] = (await api.as(key).get(path)).body;
    expect(invitation.id).not.toBe(old.id);
  });

  // Guarantees that what is stored cannot be used as a link.
  test('the link’s token is stored as a hash, and in the job sealed', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    await api.as(key).post(path, { email: 'sealed@example.com' });

    const [link] = await api.rows<{ token_hash: Buffer }>(
      `select l.token_hash from invitation_link l join invitation i on i.id = l.invitation_id where i.team_id = $1`,
      [team.id],
    );
    const jobs = await api.rows<{ payload: { sealedToken: string } }>(
      `select payload from graphile_worker._private_jobs`,
    );
    const tokens = jobs.map(({ payload }) => api.services.encryption.decrypt(payload.sealedToken));

    expect(link?.token_hash).toHaveLength(32);
    expect(tokens.some((token) => api.services.tokens.parseKind(token) === 'invitation')).toBe(true);
    expect(JSON.stringify(jobs)).not.toContain(tokens[0]);
  });

  test('403: over the seat limit, naming the limit; members and pending invitations each take a seat', async ({
    api,
  }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    await api.aMember(team, await api.anAccount(), { role: 'member' });
    await api.aMember(team, await api.anAccount(), { role: 'member', active: false });
    await api.anInvitation(team, { expiresAt: new Date(Date.now() - 1000) });
    for (let i = 0; i < 3; i++) await api.anInvitation(team);

    const answer = await api.as(key).post(path, { email: 'sixth@example.com' });

    expect(answer).toBeProblem('seat_limit_reached');
    expect(answer.body.detail).toContain('5 seats');
    expect((await api.as(key).get(path)).body).toHaveLength(3);
  });

  test('201: the add-on seats adds to the seats of the plan', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    await api.aSubscription(team, { plan: 'free', seats: 1 });
    for (let i = 0; i < 4; i++) await api.anInvitation(team);

    expect((await api.as(key).post(path, { email: 'sixth@example.com' })).status).toBe(201);
    expect(await api.as(key).post(path, { email: 'seventh@example.com' })).toBeProblem('seat_limit_reached');
  });

  test('400: a role of no team, of another team, or with the wrong flag', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const own = await api.aRole(team, []);
    const foreign = await api.aRole(await api.aTeam(), []);
    const errorsOf = async (body: object) =>
      (await api.as(key).post(path, { email: 'a@example.com', ...body })).body.errors;
    const at = (pointer: string) => [{ in: 'body', pointer, code: 'invalid_value' }];

    expect(await errorsOf({ roleId: 'no-such-role' })).toEqual(at('/roleId'));
    expect(await errorsOf({ roleId: foreign.id, isSystemRole: false })).toEqual(at('/roleId'));
    expect(await errorsOf({ roleId: own.id })).toEqual(at('/isSystemRole'));
    expect(await errorsOf({ roleId: 'guest', isSystemRole: false })).toEqual(at('/isSystemRole'));
    expect(await errorsOf({ isSystemRole: false })).toEqual(at('/isSystemRole'));
    expect((await api.as(key).get(path)).body).toEqual([]);
  });

  test('403: owner is never granted, nor a role above the inviter’s own', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const inviter = await api.anAccount();
    await api.aMember(team, inviter, { role: (await api.aRole(team, ['invite_members'])).id });
    const inviterKey = await api.anApiKey(inviter, { scopes: SCOPES });

    expect(await api.as(key).post(path, { email: 'a@example.com', roleId: 'owner' })).toBeProblem(
      'role_not_assignable',
    );
    expect(await api.as(inviterKey).post(path, { email: 'a@example.com', roleId: 'member' })).toBeProblem(
      'role_not_assignable',
    );
    expect((await api.as(inviterKey).post(path, { email: 'a@example.com', roleId: 'guest' })).status).toBe(201);
  });
});

describe('listTeamInvitations', () => {
  test('200: only pending ones, oldest first', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const first = await api.anInvitation(team);
    const second = await api.anInvitation(team);
    await api.anInvitation(team, { acceptedAt: new Date() });
    await api.anInvitation(team, { expiresAt: new Date(Date.now() - 1000) });

    expect((await api.as(key).get(path)).body.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
  });

  // Guarantees that only callers who can invite get the invited email addresses (spec 4.13).
  test('200: empty for a member without invite_members', async ({ api }) => {
    const { team, path } = await aTeamWithOwner(api);
    await api.anInvitation(team);
    const member = await api.anAccount();
    await api.aMember(team, member, { role: 'member' });
    const key = await api.anApiKey(member, { scopes: SCOPES });

    expect((await api.as(key).get(path)).body).toEqual([]);
  });
});

describe('revokeTeamInvitation', () => {
  test('200, then 404: the invitation and its links are deleted and the seat is free', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    await api.as(key).post(path, { email: 'gone@example.com' });
    const [{ id }] = (await api.as(key).get(path)).body;

    expect((await api.as(key).delete(`${path}/${id}`)).body).toEqual({ success: true });
    expect(await api.as(key).delete(`${path}/${id}`)).toBeProblem('invitation_not_found');
    expect(await api.rows('select 1 from invitation where team_id = $1', [team.id])).toEqual([]);
    expect(await api.rows('select 1 from invitation_link where invitation_id = $1', [id])).toEqual([]);
  });

  test('404: accepted, expired, unknown and another team’s invitations stay as they are', async ({ api }) => {
    const { team, key, path } = await aTeamWithOwner(api);
    const accepted = await api.anInvitation(team, { acceptedAt: new Date() });
    const expired = await api.anInvitation(team, { expiresAt: new Date(Date.now() - 1000) });
    const foreign = await api.anInvitation(await api.aTeam());

    for (const id of [accepted.id, expired.id, foreign.id, 'invt_unknown']) {
      expect(await api.as(key).delete(`${path}/${id}`)).toBeProblem('invitation_not_found');
    }
    const kept = await api.rows('select 1 from invitation where id = any($1)', [[accepted.id, expired.id, foreign.id]]);
    expect(kept).toHaveLength(3);
  });
});
