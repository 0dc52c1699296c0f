import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { tokenIn } from '../support/mailbox.ts';
import { aService } from './people.ts';
import {
  aLink,
  anInvitationWithLink,
  as,
  inMinutes,
  membershipOf,
  memberships,
  outcomeOf,
  stateOf,
  tally,
  withKey,
} from './console.ts';

describe('invitations.read', () => {
  test('shows what the link leads to, and changes nothing', async ({ api }) => {
    const owner = await api.anAccount({ firstName: 'Ann', lastName: 'Owner' });
    const team = await api.aTeam({ owner, name: 'Night Owls' });
    const { id, email, token } = await anInvitationWithLink(api, team, { role: 'guest' });
    await api.rows('update invitation set invited_by_id = $1 where id = $2', [owner.id, id]);
    const before = await stateOf(api, team);

    const shown = await api.visitor().trpc.invitations.read.mutate({ token });

    expect(shown).toEqual({
      teamName: 'Night Owls',
      roleName: 'Guest',
      inviterName: 'Ann Owner',
      email,
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
      provesMailbox: true,
      hasAccount: false,
    });
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('hasAccount is about a verified account with the address, in any case', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const invited = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: invited.email.toUpperCase() });
    const hasAccount = async () => (await api.visitor().trpc.invitations.read.mutate({ token })).hasAccount;

    expect(await hasAccount()).toBe(true);
    await api.rows('update account set email_verified_at = null where id = $1', [invited.id]);
    expect(await hasAccount()).toBe(false);
  });

  test('names an inviter without a name by the email address, and a deleted one not at all', async ({ api }) => {
    const owner = await api.anAccount();
    const { id, token } = await anInvitationWithLink(api, await api.aTeam({ owner }));
    const inviterName = async () => (await api.visitor().trpc.invitations.read.mutate({ token })).inviterName;

    expect(await inviterName()).toBeNull();
    await api.rows('update invitation set invited_by_id = $1 where id = $2', [owner.id, id]);
    expect(await inviterName()).toBe(owner.email);
  });
});

// Guarantees that used, expired, revoked, unknown and malformed links get the same error.
describe('a link that does not work', () => {
  test('is one answer for each of them and each procedure', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const used = await anInvitationWithLink(api, team, { acceptedAt: new Date() });
    const expired = await anInvitationWithLink(api, team, { expiresAt: inMinutes(-1) });
    const revoked = await anInvitationWithLink(api, team);
    await api.rows('delete from invitation where id = $1', [revoked.id]);
    const pending = await anInvitationWithLink(api, team);
    const tokens = [
      used.token,
      expired.token,
      revoked.token,
      api.services.tokens.generate('invitation').secret,
      api.services.tokens.generate('emailVerification').secret,
      `${pending.token}x`,
      pending.token.slice(0, -1),
      pending.token.toLowerCase(),
      pending.id,
      '',
      '\u0000',
      'x'.repeat(1000),
    ];
    const trpc = await as(api, owner);
    const before = await stateOf(api, team);

    const refusals = await Promise.all(
      tokens.flatMap((token) => [
        problemOf(trpc.invitations.read.mutate({ token })),
        problemOf(trpc.invitations.accept.mutate({ token })),
        problemOf(trpc.invitations.decline.mutate({ token })),
      ]),
    );

    expect(new Set(refusals.map((problem) => JSON.stringify({ ...problem, requestId: '' })))).toHaveLength(1);
    expect(refusals[0]).toMatchObject({ code: 'link_invalid', status: 404 });
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('what is no text at all is a fault of the request', async ({ api }) => {
    const trpc = await as(api, await api.anAccount());

    // The types of the client would not allow it.
    for (const token of [7, null, ['x'], undefined]) {
      expect(await outcomeOf(trpc.invitations.accept.mutate({ token: token as unknown as string }))).toBe(
        'validation_failed',
      );
    }
  });
});

describe('invitations.accept', () => {
  test('makes the invited account a member with the role and answers the team, which the next call sees', async ({
    api,
  }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const role = await api.aRole(team, ['invite_members']);
    const account = await api.anAccount({ email: `Mixed.Case-${team.id}@Example.com` });
    const { id, token } = await anInvitationWithLink(api, team, { email: account.email.toLowerCase(), role: role.id });
    const trpc = await as(api, account);

    const answer = await trpc.invitations.accept.mutate({ token });

    expect(answer).toEqual({
      id: team.id,
      name: team.name,
      slug: team.slug,
      description: null,
      avatarUrl: null,
      role: { id: role.id, name: role.id },
    });
    expect(await trpc.listTeams.query()).toEqual([answer]);
    expect(await membershipOf(api, team, account)).toMatchObject({
      role_id: role.id,
      is_active: true,
      expires_at: null,
    });
    expect(await api.rows('select 1 from invitation where id = $1 and accepted_at is not null', [id])).toHaveLength(1);
  });

  test('is idempotent for the account that accepted, and for no other', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const trpc = await as(api, account);
    const first = await trpc.invitations.accept.mutate({ token });
    const after = await stateOf(api, team);

    expect(await trpc.invitations.accept.mutate({ token })).toEqual(first);
    expect(await outcomeOf((await as(api, owner)).invitations.accept.mutate({ token }))).toBe('link_invalid');
    expect(await outcomeOf((await as(api, await api.anAccount())).invitations.accept.mutate({ token }))).toBe(
      'link_invalid',
    );
    expect(await stateOf(api, team)).toEqual(after);
  });

  test('is told to who accepted and opens the link again, counts against nothing, and is told to no other', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '4' });
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const trpc = await as(api, account);
    expect(await trpc.invitations.read.mutate({ token })).not.toHaveProperty('acceptedTeamId');
    await trpc.invitations.accept.mutate({ token });

    for (let times = 0; times < 6; times += 1)
      expect(await trpc.invitations.read.mutate({ token })).toMatchObject({ acceptedTeamId: team.id });
    expect(await outcomeOf((await as(api, owner)).invitations.read.mutate({ token }))).toBe('link_invalid');
    expect(await outcomeOf(api.visitor().trpc.invitations.read.mutate({ token }))).toBe('link_invalid');
    await api.rows('update membership set is_active = false where account_id = $1', [account.id]);
    expect(await outcomeOf(trpc.invitations.read.mutate({ token }))).toBe('link_invalid');
    expect(await outcomeOf(trpc.invitations.accept.mutate({ token }))).toBe('link_invalid');
    expect(await outcomeOf(trpc.invitations.read.mutate({ token }))).toBe('rate_limited');
  });

  test('does not bring back a member who was removed after accepting', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    const trpc = await as(api, account);
    await trpc.invitations.accept.mutate({ token });
    await trpc.teams.leave.mutate({ teamId: team.id });

    expect(await outcomeOf(trpc.invitations.accept.mutate({ token }))).toBe('link_invalid');
    expect(await membershipOf(api, team, account)).toBeUndefined();
  });

  // Guarantees that only the invited mailbox gets in, and that a wrong attempt costs the invitation nothing.
  test('rejects another account, and an unverified email address, and the invitation stays pending', async ({
    api,
  }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const unverified = await api.anAccount();
    await api.rows('update account set email_verified_at = null where id = $1', [unverified.id]);
    const { token } = await anInvitationWithLink(api, team, { email: unverified.email });
    const before = await stateOf(api, team);

    expect(await outcomeOf((await as(api, owner)).invitations.accept.mutate({ token }))).toBe('invitation_for_another');
    expect(await outcomeOf((await as(api, await api.anAccount())).invitations.accept.mutate({ token }))).toBe(
      'invitation_for_another',
    );
    expect(await outcomeOf((await as(api, unverified)).invitations.accept.mutate({ token }))).toBe(
      'email_not_verified',
    );
    expect(await stateOf(api, team)).toEqual(before);

    await api.rows('update account set email_verified_at = now() where id = $1', [unverified.id]);
    expect(await outcomeOf((await as(api, unverified)).invitations.accept.mutate({ token }))).toBe('done');
  });

  test('requires a signed-in user', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { token } = await anInvitationWithLink(api, team, { email: account.email });

    expect(await outcomeOf(api.visitor().trpc.invitations.accept.mutate({ token }))).toBe('credential_missing');
    const key = await api.anApiKey(account, { scopes: ['teams:write', 'invites:write', 'members:write'] });
    expect(await outcomeOf(withKey(api, key).invitations.accept.mutate({ token }))).toBe('session_required');
    expect(await memberships(api, team)).toHaveLength(1);
  });

  // Guarantees that the seat was kept by the invitation: nothing that happens to the plan takes it away.
  test('never fails on seats, also after a downgrade', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aSubscription(team, { plan: 'pro' });
    for (let i = 0; i < 6; i += 1) await api.aMember(team, await api.anAccount());
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    await api.rows('delete from subscription where team_id = $1', [team.id]);

    expect(await outcomeOf((await as(api, account)).invitations.accept.mutate({ token }))).toBe('done');
    expect(await memberships(api, team)).toHaveLength(8);
  });

  test('changes nothing for an active member, and uses the invitation up', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    await api.aMember(team, account, { role: 'member', expiresAt: inMinutes(60) });
    const { token } = await anInvitationWithLink(api, team, { email: account.email, role: 'guest' });
    const before = await memberships(api, team);

    const answer = await (await as(api, account)).invitations.accept.mutate({ token });

    expect(answer.role).toEqual({ id: 'member', name: 'Member' });
    expect(await memberships(api, team)).toEqual(before);
    expect(await outcomeOf(api.visitor().trpc.invitations.read.mutate({ token }))).toBe('link_invalid');
  });

  test('an owner who is invited stays the owner', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const { token } = await anInvitationWithLink(api, team, { email: owner.email, role: 'guest' });

    expect((await (await as(api, owner)).invitations.accept.mutate({ token })).role.id).toBe('owner');
    expect(await membershipOf(api, team, owner)).toMatchObject({ role_id: 'owner' });
  });

  test('brings an expired membership back with the new role and without an end', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    await api.aMember(team, account, { role: 'guest', expiresAt: inMinutes(-1) });
    const { token } = await anInvitationWithLink(api, team, { email: account.email, role: 'member' });
    const trpc = await as(api, account);
    expect(await outcomeOf(trpc.getTeam.query({ teamId: team.id }))).toBe('team_not_found');

    await trpc.invitations.accept.mutate({ token });

    expect(await membershipOf(api, team, account)).toMatchObject({
      role_id: 'member',
      is_active: true,
      expires_at: null,
    });
    expect((await trpc.getTeam.query({ teamId: team.id })).role.id).toBe('member');
  });

  // Guarantees that nothing from before a membership ended works again with the next one.
  test.for(['removed', 'expired'] as const)(
    'revives neither keys nor webhook endpoints of a membership that was %s',
    async (end, { api }) => {
      const [owner, account] = [await api.anAccount(), await api.anAccount()];
      const team = await api.aTeam({ owner });
      await api.aMember(team, account, { role: (await api.aRole(team, ['edit_team_settings'])).id });
      const key = await api.anApiKey(account, { team });
      const [theirs, owners] = [await as(api, account), await as(api, owner)];
      const { endpoint } = await theirs.webhooks.create.mutate({
        teamId: team.id,
        url: 'https://a.example/hook',
        types: ['team.updated'],
      });

      if (end === 'removed') await owners.removeTeamMember.mutate({ teamId: team.id, userId: account.id });
      else
        await api.rows(`update membership set expires_at = now() - interval '1 s' where account_id = $1`, [account.id]);
      const { token } = await anInvitationWithLink(api, team, { email: account.email, role: 'member' });
      await theirs.invitations.accept.mutate({ token });

      expect(await api.as(key).get(`/api/v1/teams/${team.id}`)).toBeProblem('credential_invalid');
      const list = () => owners.webhooks.list.query({ teamId: team.id });
      expect(await list()).toMatchObject([{ status: 'disabled', disabledReason: 'member_left' }]);
      expect(
        await api.rows(
          `select account_id, details ->> 'reason' as reason from audit_event where event = 'webhook_endpoint.disabled' and team_id = $1`,
          [team.id],
        ),
      ).toEqual([{ account_id: account.id, reason: 'member_left' }]);

      const input = { teamId: team.id, endpointId: endpoint.endpointId };
      expect(await owners.webhooks.resume.mutate(input)).toMatchObject({ status: 'active' });
    },
  );

  test.for([null, -1])(
    'leaves an inactive membership as it is (expiry %s), and uses the invitation up',
    async (minutes, { api }) => {
      const team = await api.aTeam({ owner: await api.anAccount() });
      const account = await api.anAccount();
      await api.aMember(team, account, {
        role: 'guest',
        active: false,
        expiresAt: minutes === null ? null : inMinutes(minutes),
      });
      const { token } = await anInvitationWithLink(api, team, { email: account.email, role: 'member' });
      const before = await memberships(api, team);
      const trpc = await as(api, account);

      await trpc.invitations.accept.mutate({ token });

      expect(await memberships(api, team)).toEqual(before);
      expect(await outcomeOf(trpc.getTeam.query({ teamId: team.id }))).toBe('team_not_found');
      expect(await outcomeOf(trpc.invitations.read.mutate({ token }))).toBe('link_invalid');
    },
  );

  test('works by any of a renewed invitation’s links, once', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { id, token } = await anInvitationWithLink(api, team, { email: account.email });
    const second = await aLink(api, { id });
    const trpc = await as(api, account);

    expect(
      await tally([trpc.invitations.accept.mutate({ token }), trpc.invitations.accept.mutate({ token: second })]),
    ).toEqual({ done: 2 });
    expect(await memberships(api, team)).toHaveLength(2);
    expect(await outcomeOf((await as(api, await api.anAccount())).invitations.accept.mutate({ token: second }))).toBe(
      'link_invalid',
    );
  });
});

describe('invitations.decline', () => {
  test('deletes the invitation for any holder of the link, and frees its seat', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    for (let i = 0; i < 3; i += 1) await api.anInvitation(team);
    const { email, token } = await anInvitationWithLink(api, team);
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });
    const invite = (address: string) => api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email: address });
    expect(await invite('one.more@example.com')).toBeProblem('seat_limit_reached');

    expect(await api.visitor().trpc.invitations.decline.mutate({ token })).toEqual({ success: true });

    expect(await api.rows('select 1 from invitation where team_id = $1 and email = $2', [team.id, email])).toEqual([]);
    expect(await outcomeOf(api.visitor().trpc.invitations.decline.mutate({ token }))).toBe('link_invalid');
    expect((await invite('one.more@example.com')).status).toBe(201);
  });

  test('has no power over an invitation that was accepted', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const account = await api.anAccount();
    const { token } = await anInvitationWithLink(api, team, { email: account.email });
    await (await as(api, account)).invitations.accept.mutate({ token });

    expect(await outcomeOf(api.visitor().trpc.invitations.decline.mutate({ token }))).toBe('link_invalid');
    expect(await memberships(api, team)).toHaveLength(2);
  });
});

describe('invitations.resend', () => {
  test('emails a new link and renews the expiry; the old link works until that email was sent', async ({ api }) => {
    const owner = await api.anAccount({ firstName: 'Ann', lastName: 'Owner' });
    const team = await api.aTeam({ owner });
    const { id, email, token } = await anInvitationWithLink(api, team, { expiresAt: inMinutes(5) });
    const trpc = await as(api, owner);

    expect(await trpc.invitations.resend.mutate({ teamId: team.id, invitationId: id })).toEqual({ success: true });
    const [pending] = await trpc.listTeamInvitations.query({ teamId: team.id });
    expect(pending).toMatchObject({ id, email });
    expect(Date.parse(pending?.expiresAt ?? '')).toBeGreaterThan(inMinutes(6 * 24 * 60).getTime());
    expect((await trpc.invitations.read.mutate({ token })).email).toBe(email);

    const renewed = tokenIn(await api.mailTo(email));
    expect(renewed).not.toBe(token);
    expect(await trpc.invitations.read.mutate({ token: renewed })).toMatchObject({ email, inviterName: 'Ann Owner' });
    await expect.poll(() => outcomeOf(trpc.invitations.read.mutate({ token })), { interval: 20 }).toBe('link_invalid');
  });

  test('the link of an invitation that was created by REST is accepted with the role it names', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const account = await api.anAccount();
    const trpc = await as(api, owner);
    await trpc.createTeamInvitation.mutate({ teamId: team.id, email: account.email.toUpperCase(), roleId: 'guest' });
    const token = tokenIn(await api.mailTo(account.email));

    const answer = await (await as(api, account)).invitations.accept.mutate({ token });

    expect(answer).toMatchObject({ id: team.id, role: { id: 'guest', name: 'Guest' } });
    expect(await trpc.listTeamInvitations.query({ teamId: team.id })).toEqual([]);
  });

  test('knows only what is pending in this team', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const elsewhere = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const ids = [
      (await api.anInvitation(elsewhere)).id,
      (await api.anInvitation(team, { acceptedAt: new Date() })).id,
      (await api.anInvitation(team, { expiresAt: inMinutes(-1) })).id,
      'nothing',
    ];
    const before = [await stateOf(api, team), await stateOf(api, elsewhere)];

    for (const invitationId of ids) {
      expect(await outcomeOf(trpc.invitations.resend.mutate({ teamId: team.id, invitationId }))).toBe(
        'invitation_not_found',
      );
    }
    expect([await stateOf(api, team), await stateOf(api, elsewhere)]).toEqual(before);
  });

  // Guarantees that no one renews an invitation to a role that they cannot grant.
  test('denies callers who could not invite to that role', async ({ api }) => {
    const team = await api.aTeam({ owner: await api.anAccount() });
    const inviter = await api.anAccount();
    await api.aMember(team, inviter, { role: (await api.aRole(team, ['invite_members'])).id });
    const { id } = await api.anInvitation(team, { role: (await api.aRole(team, ['manage_api_keys'])).id });
    const before = await stateOf(api, team);

    const outcome = await outcomeOf(
      (await as(api, inviter)).invitations.resend.mutate({ teamId: team.id, invitationId: id }),
    );

    expect(outcome).toBe('role_not_assignable');
    expect(await stateOf(api, team)).toEqual(before);
  });
});
