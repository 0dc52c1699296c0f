import { record } from '../../events/record.ts';
import { raw, type EntityManager } from '@mikro-orm/postgresql';
import { isActiveNow } from '../../auth/active-membership.ts';
import { pendingInvitation } from '../../db/predicates.ts';
import { endAbandonedIn } from './end-invitations.ts';
import { lockTeamStep } from '../../transactions/lock-steps.ts';
import { lockMembership, lockOne } from '../../transactions/locks.ts';
import { deletePendingConsents, revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import { isSameEmailAddress } from '../../transactions/email-address.ts';
import type { Principal } from '../../auth/principal.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { Account, Invitation, InvitationLink, Membership } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { disableEndpoints } from '../../webhooks/disable.ts';

/** `provesMailbox`: the link was only emailed, so that its holder can read the invited mailbox. */
export type LinkedInvitation = { readonly invitation: Invitation; readonly provesMailbox: boolean };

/**
 * Finds the pending invitation of a link.
 * @param lock whether to lock the invitation; lock its team and the account that accepts first
 * @returns null if the token is malformed or unknown, or the invitation was accepted, revoked or has expired
 */
export async function findInvitationByToken(
  em: EntityManager,
  services: Services,
  token: string,
  lock: boolean,
): Promise<LinkedInvitation | null> {
  const target = await findTarget(em, services, token);
  if (target === null) return null;
  const invitation = await readInvitation(em, target, lock);
  if (invitation === null || !(await isPending(em, invitation))) return null;
  return { invitation, provesMailbox: target.provesMailbox };
}

/**
 * Accepts a pending invitation for an account: creates its membership, or lets an expired one start anew. Needs no free
 * seat, because the invitation already uses one. Call it with the locks that `findInvitationByToken` takes.
 */
export async function acceptInvitation(
  tx: EntityManager,
  _services: Services,
  invitationId: string,
  account: Account,
): Promise<void> {
  const invitation = await tx.findOne(Invitation, { id: invitationId });
  if (invitation === null || !(await isPending(tx, invitation))) throw new ProblemError('link_invalid');
  requireInvited(invitation, account);

  const { team, role } = invitation;
  const membership = await lockMembership(tx, team.id, account.id);
  if (membership === null) {
    tx.create(Membership, { team, account, role, joinedAt: new Date() });
    record(tx, 'member.added', { accountId: account.id, teamId: team.id, roleId: role.id });
  } else if (membership.isActive && membership.isExpired) {
    await endAbandonedIn(tx, team.id);
    await endAccess(tx, team.id, account.id);
    membership.role = role;
    Object.assign(membership, { expiresAt: null, isExpired: false });
    const terms = { roleId: role.id, isActive: true, expiresAt: null };
    record(tx, 'member.activated', { accountId: account.id, teamId: team.id, ...terms });
  }
  invitation.acceptedAt = raw<Date>('now()');
  record(tx, 'invitation.accepted', { accountId: account.id, teamId: team.id, invitationId });
}

/** Ends what an expired membership had, which would work again with it, as a removal does. */
async function endAccess(tx: EntityManager, teamId: string, accountId: string): Promise<void> {
  const reason = 'membership started anew';
  await revokeGrants(tx, { account: accountId, team: teamId }, reason);
  await revokeApiKeys(tx, { account: accountId, team: teamId }, reason);
  await deletePendingConsents(tx, { account: accountId, team: teamId });
  await disableEndpoints(tx, { account: accountId, team: teamId }, 'member_left');
}

/** A membership by an invitation, and the application that sent it. */
type Accepted = { readonly membership: Membership; readonly clientId: string | null };

/** Accepts an invitation by its link for the caller. Repeating it has the same result. @throws link_invalid */
export async function acceptByToken(services: Services, caller: Principal, token: string): Promise<Accepted> {
  const target = await findTarget(services.db.em(), services, token);
  if (target === null) throw new ProblemError('link_invalid');
  const spec = {
    on: { account: caller.accountId, isShared: true },
    requires: 'self',
    first: [[lockTeamStep, [target.teamId]]],
  } as const;
  return change(services.db, caller, spec, async ({ em: tx }, [[team]]) => {
    if (team === undefined) throw new ProblemError('link_invalid');
    const account = await tx.findOneOrFail(Account, caller.accountId);
    const invitation = await readInvitation(tx, target, true);
    if (invitation === null) throw new ProblemError('link_invalid');

    const isUsed = !(await isPending(tx, invitation));
    if (!isUsed) await acceptInvitation(tx, services, invitation.id, account);
    else if (!invitation.acceptedAt || !isInvited(invitation, account)) throw new ProblemError('link_invalid');

    const membership = await tx.findOne(
      Membership,
      { team: target.teamId, account: account.id },
      { populate: ['team', 'role'] },
    );
    if (membership === null || (isUsed && !isActiveNow(membership))) throw new ProblemError('link_invalid');
    return { membership, clientId: invitation.clientId ?? null };
  });
}

type Target = {
  readonly id: string;
  readonly teamId: string;
  readonly tokenHash: Buffer;
  readonly provesMailbox: boolean;
};

/** Finds the invitation of a link, whatever its state. */
async function findTarget(em: EntityManager, { tokens }: Services, token: string): Promise<Target | null> {
  if (tokens.parseKind(token) !== 'invitation') return null;
  const tokenHash = hashSecret(token);
  const [row] = await em.execute<{ id: string; team_id: string; proves_mailbox: boolean }[]>(
    `select i.id, i.team_id, l.proves_mailbox from invitation_link l join invitation i on i.id = l.invitation_id where l.token_hash = decode(?, 'hex')`,
    [tokenHash.toString('hex')],
  );
  return row === undefined ? null : { id: row.id, teamId: row.team_id, tokenHash, provesMailbox: row.proves_mailbox };
}

async function readInvitation(em: EntityManager, { id, tokenHash }: Target, lock: boolean): Promise<Invitation | null> {
  const invitation = lock ? await lockOne(em, 'invitation', id) : await em.findOne(Invitation, id);
  // Earlier links of a renewed invitation are deleted once the newer email was sent, also while this waited for a lock.
  const isLinked = (await em.count(InvitationLink, { tokenHash, invitation: id })) > 0;
  return isLinked ? invitation : null;
}

/** Whether an invitation can be accepted: also who sent it decides, for a privileged role. */
async function isPending(em: EntityManager, { id }: Invitation): Promise<boolean> {
  const sql = `select 1 from invitation i where i.id = ? and ${pendingInvitation('i')}`;
  return (await em.execute<object[]>(sql, [id])).length > 0;
}

const isInvited = ({ email }: Invitation, account: Account): boolean =>
  isSameEmailAddress(account.email, email) && Boolean(account.emailVerifiedAt);

/** Requires that the account has the invited email address, verified. */
function requireInvited(invitation: Invitation, account: Account): void {
  if (!isSameEmailAddress(account.email, invitation.email)) throw new ProblemError('invitation_for_another');
  if (!account.emailVerifiedAt) throw new ProblemError('email_not_verified');
}
