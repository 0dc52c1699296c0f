import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, membershipOf, memberships, outcomeOf, stateOf, tally, type Trpc } from './console.ts';
import { accountAt, allMailed, anAddress, aPerson, aService, codeOf, PASSWORD, signIn, tokenTo } from './people.ts';

const tokenOf = (link: string): string => new URL(link).searchParams.get('token') ?? '';

/** An invitation whose link the inviter has copied, with the links of both kinds. */
async function aCopiedLink(api: Api, email: string, { roleId = 'member' }: { roleId?: string } = {}) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const trpc = await as(api, owner);
  const { invitation, link } = await trpc.invitations.create.mutate({ teamId: team.id, email, roleId });
  return { team, trpc, invitation, copied: tokenOf(link), mailed: () => tokenTo(api, email, /^Invitation/) };
}

const signUp = (api: Api, email: string, invitationToken: string) =>
  api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });

const links = (api: Api, { id }: { id: string }) =>
  api.rows<{ token_hash: Buffer; proves_mailbox: boolean }>(
    'select token_hash, proves_mailbox from invitation_link where invitation_id = $1 order by proves_mailbox',
    [id],
  );

const reads = (trpc: Trpc, token: string) => outcomeOf(trpc.invitations.read.mutate({ token }));

describe('invitations.create', () => {
  test('invites as the operation does, and answers the invitation with a link that proves no mailbox', async ({
    api,
  }) => {
    const email = anAddress();
    const { team, trpc, invitation, copied, mailed } = await aCopiedLink(api, email, { roleId: 'guest' });

    expect(invitation).toEqual({
      id: expect.stringMatching(/^invt_/),
      email,
      roleId: 'guest',
      roleName: 'Guest',
      isSystemRole: true,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await trpc.listTeamInvitations.query({ teamId: team.id })).toEqual([invitation]);
    const token = await mailed();
    expect(token).not.toBe(copied);
    await allMailed(api);
    expect(await links(api, invitation)).toEqual([
      { token_hash: hashSecret(copied), proves_mailbox: false },
      { token_hash: hashSecret(token), proves_mailbox: true },
    ]);
  });

  test('its link leads to the page of invitations', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });

    const { link } = await (await as(api, owner)).invitations.create.mutate({ teamId, email: anAddress() });

    expect(link).toBe(`${api.services.config.baseUrl}/invitation?token=${tokenOf(link)}`);
  });

  test('rejects what the operation rejects, and changes nothing', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const create = (input: { email: string; roleId?: string; isSystemRole?: boolean }) =>
      trpc.invitations.create.mutate({ teamId: team.id, ...input });
    const before = await stateOf(api, team);

    const fault = (call: Promise<unknown>) => problemOf(call).then(({ errors }) => errors?.[0]?.pointer);
    expect(await fault(create({ email: 'nothing' }))).toBe('/email');
    expect(await fault(create({ email: anAddress(), roleId: 'nothing' }))).toBe('/roleId');
    expect(await fault(create({ email: anAddress(), isSystemRole: false }))).toBe('/isSystemRole');
    expect(await outcomeOf(create({ email: anAddress(), roleId: 'owner' }))).toBe('role_not_assignable');
    expect(await stateOf(api, team)).toEqual(before);
  });

  test('uses seats: of several concurrent calls one gets the last', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    for (let i = 0; i < 3; i += 1) await api.anInvitation(team);
    const trpc = await as(api, owner);

    const calls = Array.from({ length: 5 }, () =>
      trpc.invitations.create.mutate({ teamId: team.id, email: anAddress() }),
    );

    expect(await tally(calls)).toEqual({ done: 1, seat_limit_reached: 4 });
  });

  // Guarantees that a copied link does not reveal to the inviter who has an account.
  test('its link answers alike for addresses with an account and without', async ({ api }) => {
    const [known, unknown] = [(await aPerson(api)).email, anAddress()];
    const [ofKnown, ofUnknown] = [await aCopiedLink(api, known), await aCopiedLink(api, unknown)];
    const visitor = api.visitor().trpc;
    const shown = async (token: string) => {
      const {
        email: _email,
        expiresAt: _expiresAt,
        inviterName: _name,
        ...rest
      } = await visitor.invitations.read.mutate({
        token,
      });
      return rest;
    };

    const answer = { teamName: 'A team', roleName: 'Member', provesMailbox: false, hasAccount: null };
    expect(await shown(ofKnown.copied)).toEqual(answer);
    expect(await shown(ofUnknown.copied)).toEqual(answer);
    expect(await shown(await ofKnown.mailed())).toEqual({ ...answer, provesMailbox: true, hasAccount: true });
    expect(await shown(await ofUnknown.mailed())).toEqual({ ...answer, provesMailbox: true, hasAccount: false });
    expect(await signUp(api, known, ofKnown.copied)).toEqual(await signUp(api, unknown, ofUnknown.copied));
  });
});

describe('signing up by a copied link', () => {
  // Guarantees that holding the link does not prove the mailbox: the inviter holds it too.
  test('creates no account and no member; that takes the verification email and the link', async ({ api }) => {
    const email = anAddress();
    const { team, copied } = await aCopiedLink(api, email);
    const visitor = api.visitor();

    expect(
      await visitor.trpc.auth.signUp.mutate({
        email: email.toUpperCase(),
        password: PASSWORD,
        invitationToken: copied,
      }),
    ).toEqual({ signedIn: false });
    expect(await accountAt(api, email)).toBeUndefined();
    expect(await memberships(api, team)).toHaveLength(1);

    expect(await outcomeOf(visitor.trpc.invitations.accept.mutate({ token: copied }))).toBe('email_not_verified');
    await visitor.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, /^Verify/) });
    expect((await visitor.trpc.invitations.accept.mutate({ token: copied })).id).toBe(team.id);
    expect(await memberships(api, team)).toHaveLength(2);
  });

  test('informs an email address with an account by email, and leaves the account unchanged', async ({ api }) => {
    const { id, email } = await aPerson(api);
    const { team, copied } = await aCopiedLink(api, email);
    const before = await accountAt(api, email);

    expect(
      await api.visitor().trpc.auth.signUp.mutate({ email, password: 'another password 42', invitationToken: copied }),
    ).toEqual({ signedIn: false });
    await api.mailTo(email, /account/);
    expect(await accountAt(api, email)).toEqual(before);
    expect(await membershipOf(api, team, { id })).toBeUndefined();
  });

  // Guarantees that an attacker gains nothing by preparing the account: the emailed link revokes all of it.
  test('gives way to a sign-up by the emailed link', async ({ api }) => {
    const email = anAddress();
    const { copied, mailed, team } = await aCopiedLink(api, email);
    const preparer = api.visitor();
    await preparer.trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken: copied });
    expect((await preparer.trpc.getMe.query()).emailVerified).toBeNull();

    const password = 'another password 42';
    expect(await api.visitor().trpc.auth.signUp.mutate({ email, password, invitationToken: await mailed() })).toEqual({
      signedIn: true,
    });
    expect(await memberships(api, team)).toHaveLength(2);
    expect(await codeOf(preparer.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), email))).toBe('sign_in_failed');
  });

  test('is rejected for another email address, and by an invalid link', async ({ api }) => {
    const { copied, invitation } = await aCopiedLink(api, anAddress());
    const other = anAddress();

    expect(await codeOf(signUp(api, other, copied))).toBe('invitation_for_another');
    await api.rows('update invitation set expires_at = $2 where id = $1', [invitation.id, inMinutes(-1)]);
    expect(await codeOf(signUp(api, invitation.email, copied))).toBe('link_invalid');
    expect(await accountAt(api, other)).toBeUndefined();
    expect(await accountAt(api, invitation.email)).toBeUndefined();
  });

  test('is possible where only the invited sign up, and nowhere else that they cannot', async () => {
    for (const [signup, outcome] of [
      ['invited', 'ok'],
      ['closed', 'sign_up_closed'],
    ] as const) {
      const api = await aService({ SIGNUP: signup });
      const email = anAddress();
      const { copied } = await aCopiedLink(api, email);

      expect(await codeOf(signUp(api, email, copied)), signup).toBe(outcome);
      const attempts = await api.rows('select 1 from sign_up_attempt where email = $1', [email]);
      expect(attempts, signup).toHaveLength(outcome === 'ok' ? 1 : 0);
    }
  });
});

describe('a copied link', () => {
  test('is accepted by the invited account, and declined by any holder of the link', async ({ api }) => {
    const account = await aPerson(api);
    const first = await aCopiedLink(api, account.email);
    const second = await aCopiedLink(api, anAddress());

    expect(await outcomeOf((await as(api, account)).invitations.accept.mutate({ token: first.copied }))).toBe('done');
    expect(await membershipOf(api, first.team, account)).toMatchObject({ role_id: 'member' });
    expect(await outcomeOf(api.visitor().trpc.invitations.decline.mutate({ token: second.copied }))).toBe('done');
    expect(await second.trpc.listTeamInvitations.query({ teamId: second.team.id })).toEqual([]);
  });

  // Guarantees that a copied link outlives its own email, and no later one.
  test.for(['resend', 'create', 'createTeamInvitation'] as const)(
    'works beside the mailed one until the mail of %s has left',
    async (again, { api }) => {
      const email = anAddress();
      const { team, trpc, invitation, copied, mailed } = await aCopiedLink(api, email);
      const first = await mailed();
      await allMailed(api);
      expect([await reads(trpc, copied), await reads(trpc, first)]).toEqual(['done', 'done']);

      const renewed =
        again === 'resend'
          ? trpc.invitations.resend.mutate({ teamId: team.id, invitationId: invitation.id })
          : again === 'create'
            ? trpc.invitations.create.mutate({ teamId: team.id, email })
            : trpc.createTeamInvitation.mutate({ teamId: team.id, email });
      const answer = await renewed;
      await allMailed(api);

      expect([await reads(trpc, copied), await reads(trpc, first)]).toEqual(['link_invalid', 'link_invalid']);
      expect(await reads(trpc, await mailed())).toBe('done');
      if ('link' in answer) expect(await reads(trpc, tokenOf(answer.link))).toBe('done');
      expect((await links(api, invitation)).length).toBe('link' in answer ? 2 : 1);
    },
  );
});

describe('invitations.list', () => {
  test('contains invitations that were not accepted, latest first and expired ones last', async ({ api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const { id: expired } = await api.anInvitation(team, { role: 'guest', expiresAt: inMinutes(-1) });
    await api.anInvitation(team, { acceptedAt: new Date() });
    await api.anInvitation(await api.aTeam({ owner }));
    const { id: resent } = await api.anInvitation(team);
    await api.rows(`update invitation set created_at = now() - interval '2 days' where id = $1`, [resent]);
    const { invitation } = await trpc.invitations.create.mutate({ teamId: team.id, email: anAddress() });
    const at = new Date();
    await trpc.invitations.resend.mutate({ teamId: team.id, invitationId: resent });

    const list = await trpc.invitations.list.query({ teamId: team.id });

    expect(list.map(({ id, isExpired }) => [id, isExpired])).toEqual([
      [resent, false],
      [invitation.id, false],
      [expired, true],
    ]);
    expect(Date.parse(list[0]?.sentAt ?? '')).toBeGreaterThanOrEqual(at.getTime());
    await api.rows(
      `update invitation_link set email_failed_at = now(), email_failure = 'rejected' where invitation_id = $1`,
      [resent],
    );
    const withFailure = await trpc.invitations.list.query({ teamId: team.id });
    expect(withFailure.map(({ emailFailure }) => emailFailure)).toEqual(['rejected', null, null]);
    await trpc.invitations.resend.mutate({ teamId: team.id, invitationId: resent });
    const [again] = await trpc.invitations.list.query({ teamId: team.id });
    expect(again).toMatchObject({ id: resent, emailFailure: null });
    expect(list[1]).toEqual({
      ...invitation,
      sentAt: expect.stringMatching(/Z$/),
      isExpired: false,
      emailFailure: null,
    });
  });
});
