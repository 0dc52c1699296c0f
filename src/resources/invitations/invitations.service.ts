import { record } from '../../events/record.ts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockMany } from '../../transactions/locks.ts';
import { withTeam, type TeamCaller, type TeamTransaction } from '../../transactions/with-team.ts';
import { isPast } from '../../auth/active-membership.ts';
import { requireCanGrant } from '../../auth/permissions.ts';
import type { Config } from '../../config.ts';
import { Account, Invitation, InvitationLink, Role, type Permission } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { enqueue, invitationKey } from '../../jobs/enqueue.ts';
import { getInvitationUrl } from '../../email/invitation-email.ts';
import type { Services } from '../../app-services.ts';
import { findTeamRole } from '../roles/find-team-role.ts';
import { requireFreeSeat } from '../billing/seats.ts';
import { addDays } from '../../time.ts';

type NewInvitation = { readonly email: string; readonly roleId: string; readonly isSystemRole: boolean };

/** Invites an email address, or renews its pending invitation, and queues the email in the same transaction. */
export async function createTeamInvitation(
  services: Services,
  caller: TeamCaller,
  input: NewInvitation,
): Promise<void> {
  await withTeam(services.db, caller, 'invite_members', async (change) => {
    await queueNewLink(change.tx, services, await invite(change, services, input));
  });
}

/** Also returns a link that the inviter can share. Opening it does not verify the invited email address. */
export async function inviteWithLink(services: Services, caller: TeamCaller, input: NewInvitation) {
  return withTeam(services.db, caller, 'invite_members', async (change) => {
    const { tx } = change;
    const invitation = await invite(change, services, input);
    const { secret, hash } = services.tokens.generate('invitation');
    tx.create(InvitationLink, { tokenHash: hash, invitation, provesMailbox: false });
    await queueNewLink(tx, services, invitation, hash);
    return { invitation, link: getInvitationUrl(services.config.baseUrl, secret) };
  });
}

async function invite(
  { tx, team, caller: { permissions, accountId } }: TeamTransaction,
  { config }: Services,
  input: NewInvitation,
): Promise<Invitation> {
  const role = await requireAssignableRole(tx, permissions, team.id, input);
  const pending = await lockPendingByEmail(tx, team.id, input.email);
  if (pending === null) await requireFreeSeat(tx, config.plans, team.id);

  const expiresAt = createExpiry(config);
  const invitation = pending ?? tx.create(Invitation, { team: team.id, email: input.email, role, expiresAt });
  tx.assign(invitation, { email: input.email, role, expiresAt, invitedBy: tx.getReference(Account, accountId) });
  const { id: invitationId } = invitation;
  record(tx, pending === null ? 'invitation.created' : 'invitation.renewed', { teamId: team.id, invitationId });
  return invitation;
}

/** Sends a pending invitation again with a new link and expiry. The caller needs the permissions of its role. */
export async function resendInvitation(services: Services, caller: TeamCaller, invitationId: string): Promise<void> {
  await withTeam(services.db, caller, 'invite_members', async ({ tx, caller: { teamId, accountId, permissions } }) => {
    const invitation = await lockPending(tx, teamId, invitationId);
    if (invitation === null) throw new ProblemError('invitation_not_found');
    requireCanGrant(permissions, await tx.findOneOrFail(Role, invitation.role.id));

    tx.assign(invitation, {
      expiresAt: createExpiry(services.config),
      invitedBy: tx.getReference(Account, accountId),
    });
    record(tx, 'invitation.resent', { teamId, invitationId });
    await queueNewLink(tx, services, invitation);
  });
}

/** Deletes a pending invitation and its links, which frees its seat. */
export const revokeTeamInvitation = ({ db }: Services, caller: TeamCaller, invitationId: string): Promise<void> =>
  withTeam(db, caller, 'invite_members', async ({ tx, caller: { teamId } }) => {
    const invitation = await lockPending(tx, teamId, invitationId);
    if (invitation === null) throw new ProblemError('invitation_not_found');
    await tx.nativeDelete(Invitation, { id: invitationId });
    record(tx, 'invitation.revoked', { teamId, invitationId });
  });

async function lockPending(tx: EntityManager, teamId: string, id: string): Promise<Invitation | null> {
  const [invitation] = await lockMany(tx, 'invitation', { id, team: teamId, acceptedAt: null });
  return invitation === undefined || isPast(invitation.expiresAt) ? null : invitation;
}

const createExpiry = ({ invitationDays }: Config): Date => addDays(new Date(), invitationDays);

/**
 * Queues the invitation's email with a new link. All earlier links stay valid until this email was sent.
 * @param copiedLink the hash of the link that was returned to the inviter together with this email; it stays valid
 */
async function queueNewLink(
  tx: EntityManager,
  { tokens, encryption }: Services,
  invitation: Invitation,
  copiedLink?: Buffer,
): Promise<void> {
  const { secret, hash } = tokens.generate('invitation');
  tx.create(InvitationLink, { tokenHash: hash, invitation });
  await tx.flush();
  await enqueue(
    tx,
    'sendInvitation',
    {
      invitationId: invitation.id,
      sealedToken: encryption.encrypt(secret),
      ...(copiedLink === undefined ? {} : { copiedLink: copiedLink.toString('hex') }),
    },
    invitationKey(invitation.id),
  );
}

async function requireAssignableRole(
  tx: EntityManager,
  held: readonly Permission[],
  teamId: string,
  input: NewInvitation,
): Promise<Role> {
  const role = await findTeamRole(tx, teamId, input.roleId, '/roleId');
  if (role.isSystemRole !== input.isSystemRole)
    throw invalidInput('/isSystemRole', '`isSystemRole` does not match the role.');
  requireCanGrant(held, role);
  return role;
}

/**
 * Locks the pending invitation of an email address, because declining does not lock the team. Deletes an expired one.
 * @returns null if there is none
 */
async function lockPendingByEmail(tx: EntityManager, teamId: string, email: string): Promise<Invitation | null> {
  const [known] = await tx.execute<{ id: string }[]>(
    'select id from invitation where team_id = ? and lower(email) = lower(?) and accepted_at is null',
    [teamId, email],
  );
  if (known === undefined) return null;
  const [invitation] = await lockMany(tx, 'invitation', { id: known.id, acceptedAt: null });
  if (invitation === undefined) return null;
  if (!isPast(invitation.expiresAt)) return invitation;
  await tx.nativeDelete(Invitation, { id: invitation.id });
  return null;
}
