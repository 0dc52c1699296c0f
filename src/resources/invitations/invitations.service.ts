import { LockMode } from '@mikro-orm/core';
import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { keepAccounts } from '../../transactions/locks.ts';
import { lockTeamAs } from '../../transactions/with-team.ts';
import { canGrant } from '../../auth/permissions.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import type { Config } from '../../config.ts';
import { Account, Invitation, InvitationLink, Role, Team, type Permission } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { enqueue, invitationKey } from '../../jobs/enqueue.ts';
import { invitationLink } from '../../email/invitation-email.ts';
import type { Services } from '../../app-services.ts';
import { requirePermission } from '../../procedures/procedures.ts';
import { requireFreeSeat } from '../billing/seats.ts';
import { addDays } from '../../time.ts';

type NewInvitation = { readonly email: string; readonly roleId: string; readonly isSystemRole: boolean };

/** Invites an address, or renews its pending invitation, and queues the mail in the same transaction. */
export async function createTeamInvitation(
  services: Services,
  caller: ActiveMembership,
  input: NewInvitation,
): Promise<void> {
  await services.db.em().transactional(async (tx) => {
    await mailNewLink(tx, services, await invite(tx, services, caller, input));
  });
}

/** The same with a second link for the inviter to pass on, which whoever opens it proves no mailbox with. */
export async function inviteWithLink(services: Services, caller: ActiveMembership, input: NewInvitation) {
  return services.db.em().transactional(async (tx) => {
    const invitation = await invite(tx, services, caller, input);
    const { secret, hash } = services.secrets.mint('invitation');
    tx.create(InvitationLink, { tokenHash: hash, invitation, provesMailbox: false });
    await mailNewLink(tx, services, invitation, hash);
    return { invitation, link: invitationLink(services.config.baseUrl, secret) };
  });
}

async function invite(
  tx: EntityManager,
  { config }: Services,
  { team, permissions, accountId }: ActiveMembership,
  input: NewInvitation,
): Promise<Invitation> {
  // The team's row is the lock that its seats are counted under.
  await tx.findOne(Team, team.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  await keepAccounts(tx, [accountId]);
  const role = await grantableRole(tx, permissions, team.id, input);
  const pending = await pendingInvitation(tx, team.id, input.email);
  if (pending === null) await requireFreeSeat(tx, config.plans, team.id);

  const expiresAt = expiryFrom(config);
  const invitation = pending ?? tx.create(Invitation, { team: team.id, email: input.email, role, expiresAt });
  tx.assign(invitation, { email: input.email, role, expiresAt, invitedBy: tx.getReference(Account, accountId) });
  const { id: invitationId } = invitation;
  record(tx, pending === null ? 'invitation.created' : 'invitation.renewed', { teamId: team.id, invitationId });
  return invitation;
}

/** Mails a pending invitation again, with a new link and a new expiry. Only who could grant its role can prolong it. */
export async function resendInvitation(
  services: Services,
  caller: ActiveMembership,
  invitationId: string,
): Promise<void> {
  await services.db.em().transactional(async (tx) => {
    const { permissions } = await lockTeamAs(tx, caller);
    requirePermission(permissions, 'invite_members');
    const invitation = await tx.findOne(
      Invitation,
      { id: invitationId, team: caller.team.id, acceptedAt: null, expiresAt: { $gt: new Date() } },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (invitation === null) throw new ProblemError('invitation_not_found');
    if (!canGrant(permissions, await tx.findOneOrFail(Role, invitation.role.id)))
      throw new ProblemError('role_not_assignable');

    tx.assign(invitation, {
      expiresAt: expiryFrom(services.config),
      invitedBy: tx.getReference(Account, caller.accountId),
    });
    record(tx, 'invitation.sent_again', { teamId: caller.team.id, invitationId });
    await mailNewLink(tx, services, invitation);
  });
}

const expiryFrom = ({ invitationDays }: Config): Date => addDays(new Date(), invitationDays);

/**
 * Queues the invitation's mail with a link of its own. Earlier links, mailed or copied, go when this mail has left, not before.
 * @param copiedLink the hash of the link that was handed out with this mail, and stays
 */
async function mailNewLink(
  tx: EntityManager,
  { secrets, sealer }: Services,
  invitation: Invitation,
  copiedLink?: Buffer,
): Promise<void> {
  const { secret, hash } = secrets.mint('invitation');
  tx.create(InvitationLink, { tokenHash: hash, invitation });
  await tx.flush();
  await enqueue(
    tx,
    'sendInvitation',
    {
      invitationId: invitation.id,
      sealedToken: sealer.seal(secret),
      ...(copiedLink === undefined ? {} : { copiedLink: copiedLink.toString('hex') }),
    },
    invitationKey(invitation.id),
  );
}

async function grantableRole(
  tx: EntityManager,
  held: readonly Permission[],
  teamId: string,
  input: NewInvitation,
): Promise<Role> {
  const role = await tx.findOne(Role, { id: input.roleId, $or: [{ team: null }, { team: teamId }] });
  if (role === null) throw invalidInput('/roleId', 'No role of this team has that id.');
  if (role.isSystemRole !== input.isSystemRole) throw invalidInput('/isSystemRole', 'The flag does not fit the role.');
  if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
  return role;
}

/**
 * The address's pending invitation. An expired one gives up its place, and its links with it.
 * Locked, because revoking takes no lock on the team: one that is revoked just now is none any more.
 */
async function pendingInvitation(tx: EntityManager, teamId: string, email: string): Promise<Invitation | null> {
  const [row] = await tx.execute<{ id: string; pending: boolean }[]>(
    `select id, expires_at > now() as pending from invitation where team_id = ? and lower(email) = lower(?) and accepted_at is null for update`,
    [teamId, email],
  );
  if (row === undefined) return null;
  if (row.pending) return tx.findOne(Invitation, row.id);
  await tx.nativeDelete(Invitation, { id: row.id });
  return null;
}
