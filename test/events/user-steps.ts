import { run } from '../cli/roster.ts';
import { BLUE, halves, RED } from '../pictures/files.ts';
import { sender } from '../pictures/sender.ts';
import type { Api } from '../support/api.ts';
import { aLink, as, type Trpc } from '../trpc/console.ts';
import { anAddress, PASSWORD, tokenTo } from '../trpc/people.ts';
import type { At, Steps } from './step.ts';

const FUTURE = '2999-01-01T00:00:00.000Z';

/** What a step answers that found nothing to change. */
const NOTHING = { status: 409 };

/** What roles of members hold of the product. */
const HELD = [[], ['invoices:read'], ['invoices:read', 'invoices:write']];

/** The steps of users over REST and tRPC, and of commands, by the name of their procedure. */
export const USER_STEPS: Steps = {
  'command: set member': ({ api, team, memberEmail, role }) =>
    run(commandEnv(api), ['member', 'set', '--team', team, '--email', memberEmail, '--role', role, '--active']),
  createTeam: async ({ rest }) => (await rest()).post('/api/v1/teams', { name: '李' }),
  updateTeam: async ({ rest, team, c }) => (await rest()).patch(`/api/v1/teams/${team}`, { name: `Name ${c}` }),
  updateMe: async ({ rest, c }) => (await rest()).patch('/api/v1/me', { firstName: `Ada ${c}`, lastName: 'Lovelace' }),
  removeTeamMember: async ({ rest, team, member }) => (await rest()).delete(`/api/v1/teams/${team}/members/${member}`),
  createTeamInvitation: async ({ rest, team, otherEmail }) =>
    (await rest()).post(`/api/v1/teams/${team}/invitations`, {
      email: otherEmail,
      roleId: 'member',
      isSystemRole: true,
    }),
  'teams.updateDetails': async ({ ownerTrpc, team, c }) =>
    (await ownerTrpc()).teams.updateDetails.mutate({ teamId: team, description: c % 2 === 0 ? 'Of paper.' : null }),
  'account.updateProfile': async ({ trpc, c }) =>
    (await trpc()).account.updateProfile.mutate({ preferredLocale: c % 2 === 0 ? 'de' : 'en' }),
  'account.delete': async ({ trpc }) => (await trpc()).account.delete.mutate(),
  'members.setRole': async ({ ownerTrpc, team, member, role }) =>
    (await ownerTrpc()).members.setRole.mutate({ teamId: team, userId: member, roleId: role }),
  'members.deactivate': async ({ ownerTrpc, team, member }) =>
    (await ownerTrpc()).members.deactivate.mutate({ teamId: team, userId: member }),
  'members.activate': async ({ ownerTrpc, team, member }) =>
    (await ownerTrpc()).members.activate.mutate({ teamId: team, userId: member }),
  'members.setExpiry': async ({ ownerTrpc, team, member, c }) =>
    (await ownerTrpc()).members.setExpiry.mutate({
      teamId: team,
      userId: member,
      expiresAt: c % 2 === 0 ? FUTURE : null,
    }),
  'teams.leave': async ({ api, team, member }) => (await as(api, { id: member })).teams.leave.mutate({ teamId: team }),
  'teams.delete': async ({ ownerTrpc, team }) => (await ownerTrpc()).teams.delete.mutate({ teamId: team }),
  'teams.acceptOwnership': async ({ api, ownerTrpc, team, member }) => {
    await (await ownerTrpc()).teams.offerOwnership.mutate({ teamId: team, userId: member });
    await (await as(api, { id: member })).teams.acceptOwnership.mutate({ teamId: team });
  },
  'roles.create': async ({ ownerTrpc, team, c }) =>
    (await ownerTrpc()).roles.create.mutate({
      teamId: team,
      name: `Role ${c}`,
      permissions: ['access_dashboard'],
      productPermissions: HELD[c % 3] ?? [],
    }),
  'roles.update': async ({ ownerTrpc, team, role, c }) =>
    (await ownerTrpc()).roles.update.mutate({
      teamId: team,
      roleId: role,
      permissions: ['access_billing'],
      productPermissions: HELD[(c + 1) % 3] ?? [],
    }),
  'roles.delete': async ({ ownerTrpc, team, role }) =>
    (await ownerTrpc()).roles.delete.mutate({ teamId: team, roleId: role, replacementRoleId: 'guest' }),
  'invitations.create': async ({ ownerTrpc, team, otherEmail, role }) =>
    (await ownerTrpc()).invitations.create.mutate({
      teamId: team,
      email: otherEmail,
      roleId: role,
      isSystemRole: ['member', 'guest'].includes(role),
    }),
  revokeTeamInvitation: async ({ api, ownerTrpc, team }) => {
    const [invitation] = await pendingOf(api, team);
    if (invitation !== undefined)
      await (await ownerTrpc()).revokeTeamInvitation.mutate({ teamId: team, invitationId: invitation.id });
  },
  'invitations.decline': async ({ api, team }) => {
    const [invitation] = await pendingOf(api, team);
    if (invitation !== undefined)
      await api.visitor().trpc.invitations.decline.mutate({ token: await aLink(api, invitation) });
  },
  'invitations.accept': async ({ api, team }) => {
    const [invitation] = await pendingOf(api, team);
    if (invitation === undefined) return;
    const token = await aLink(api, invitation);
    const [invited] = await api.rows<{ id: string }>('select id from account where lower(email) = lower($1)', [
      invitation.email,
    ]);
    if (invited === undefined) return;
    await (await as(api, invited)).invitations.accept.mutate({ token });
  },
  'invitations.accept: revive a membership': async ({ api, ownerTrpc, team, member, memberEmail, role }) => {
    const invitation = await (
      await ownerTrpc()
    ).invitations.create.mutate({
      teamId: team,
      email: memberEmail,
      roleId: role,
      isSystemRole: ['member', 'guest'].includes(role),
    });
    const token = await aLink(api, invitation.invitation);
    return afterExpiry(api, { team, account: member }, async () =>
      (await as(api, { id: member })).invitations.accept.mutate({ token }),
    );
  },
  'members.removeWithInvitations': async ({ api, ownerTrpc, team, member }) => {
    await inviteAs(api, await ownerTrpc(), { team, member });
    return (await ownerTrpc()).members.removeWithInvitations.mutate({ teamId: team, userId: member });
  },
  'removeTeamMember: with privileged invitations': async ({ api, rest, ownerTrpc, team, member }) => {
    await inviteAs(api, await ownerTrpc(), { team, member });
    return (await rest()).delete(`/api/v1/teams/${team}/members/${member}`);
  },
  'invitations.resend': async ({ api, ownerTrpc, team }) => {
    const [invitation] = await pendingOf(api, team);
    if (invitation === undefined) return NOTHING;
    return (await ownerTrpc()).invitations.resend.mutate({ teamId: team, invitationId: invitation.id });
  },
  'auth.signUp: invited': async ({ api, ownerTrpc, team }) => {
    const email = anAddress();
    const trpc = await ownerTrpc();
    const invite = { teamId: team, email, roleId: 'guest', isSystemRole: true } as const;
    const { invitation } = await trpc.invitations.create.mutate(invite);
    const invitationToken = await aLink(api, invitation);
    return api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD, invitationToken });
  },
  'auth.verifyEmail': async ({ api }) => {
    const email = anAddress();
    const { trpc } = api.visitor();
    await trpc.auth.signUp.mutate({ email, password: PASSWORD });
    return trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, /./) });
  },
  'auth.resetPassword': async ({ api, operator }) => {
    const email = await anUnverified(operator);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, /^Reset/);
    return api.visitor().trpc.auth.resetPassword.mutate({ token, password: PASSWORD });
  },
  'auth.signInWithLink': async ({ api, operator }) => {
    const email = await anUnverified(operator);
    await api.visitor().trpc.auth.emailSignInLink.mutate({ email });
    const token = await tokenTo(api, email, /sign-in link/);
    return api.visitor().trpc.auth.signInWithLink.mutate({ token });
  },
  'account.confirmEmailChange': async ({ api, operator }) => {
    const email = await anUnverified(operator, true);
    const [account] = await api.rows<{ id: string }>('select id from account where email = $1', [email]);
    const [newEmail, trpc] = [anAddress(), await as(api, account ?? { id: '' })];
    await trpc.account.changeEmail.mutate({ newEmail });
    return trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, newEmail, /./) });
  },
  'picture: of an account': async ({ api, account, c }) => (await sender(api, { id: account })).own(await aPicture(c)),
  'picture: of a team': async ({ api, owner, team, c }) =>
    (await sender(api, { id: owner })).ofTeam({ id: team }, await aPicture(c)),
};

/** Makes a member an inviter with a privileged role, who has sent a privileged and another invitation. */
async function inviteAs(api: Api, owner: Trpc, { team, member }: { team: string; member: string }): Promise<void> {
  const { roleId } = await owner.roles.create.mutate({
    teamId: team,
    name: `Inviter ${anAddress()}`,
    permissions: ['invite_members', 'edit_team_settings'],
  });
  await owner.members.setRole.mutate({ teamId: team, userId: member, roleId });
  const inviter = await as(api, { id: member });
  for (const role of [
    { roleId, isSystemRole: false },
    { roleId: 'guest', isSystemRole: true },
  ])
    await inviter.invitations.create.mutate({ teamId: team, email: anAddress(), ...role });
}

/** One of two pictures. */
const aPicture = async (c: number) => (c % 2 === 0 ? await halves() : await halves(BLUE, RED)).png().toBuffer();

/** An account that the operator creates. @returns its address */
async function anUnverified(operator: At['operator'], isEmailVerified = false): Promise<string> {
  const email = anAddress();
  await operator.post('/operator/v1/accounts', { email, isEmailVerified });
  return email;
}

/**
 * Lets a membership end, which is no event, before a call that revives it. A call that is refused leaves it as it was.
 * @returns a refusal if there is no membership to revive
 */
async function afterExpiry(
  api: Api,
  { team, account }: { team: string; account: string },
  call: () => Promise<unknown>,
): Promise<unknown> {
  const [expired] = await api.rows<{ id: string; former: string | null }>(
    `update membership m set expires_at = now() - interval '1 day' from membership before
     where m.team_id = $1 and m.account_id = $2 and m.role_id <> 'owner' and m.is_active and before.id = m.id
     returning m.id, before.expires_at as former`,
    [team, account],
  );
  if (expired === undefined) return NOTHING;
  await call().catch(async (error: unknown) => {
    await api.rows('update membership set expires_at = $2 where id = $1', [expired.id, expired.former]);
    throw error;
  });
  const [revived] = await api.rows('select 1 from membership where id = $1 and expires_at is null', [expired.id]);
  return revived ?? NOTHING;
}

const pendingOf = (api: Api, team: string) =>
  api.rows<{ id: string; email: string }>(
    'select id, email from invitation where team_id = $1 and accepted_at is null order by id limit 1',
    [team],
  );

const commandEnv = ({ databaseUrl }: Api) => ({
  DATABASE_URL: databaseUrl,
  SECRET_KEYS: 'test-key-test-key-test-key-test-key',
});
