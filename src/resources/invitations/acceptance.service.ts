import { raw } from '@mikro-orm/postgresql';
import type { Change } from '../../transactions/steps.ts';
import { isActiveNow } from '../../auth/active-membership.ts';
import { pendingInvitation } from '../../db/predicates.ts';
import { endAbandonedInvitations } from './end-invitations.ts';
import { lockTeamStep } from '../../transactions/lock-steps.ts';
import { lockMembership, lockOne } from '../../transactions/locks.ts';
import { deletePendingConsents, revokeApiKeys, revokeGrants } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import { isSameEmailAddress } from '../../transactions/email-address.ts';
import type { Principal } from '../../auth/principal.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { Account, type Invitation, Membership } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Services } from '../../service/services.ts';
import { disableEndpoints } from '../../webhooks/disable.ts';

/** `proves_mailbox`: the link was only emailed, so that its holder can read the invited mailbox. */
export type LinkedInvitation = {
  readonly id: string;
  readonly team_id: string;
  readonly email: string;
  readonly proves_mailbox: boolean;
  readonly is_pending: boolean;
};

// Whether it can be accepted: also who sent it decides, for a privileged role.
const byToken = query<LinkedInvitation>(
  'invitation_find_by_token',
  `select i.id, i.team_id, i.email, l.proves_mailbox, ${pendingInvitation('i')} as is_pending
   from invitation_link l join invitation i on i.id = l.invitation_id where l.token_hash = $1`,
);

/**
 * Finds the invitation of a link, whatever its state. Once it is locked, look again: earlier links of a renewed invitation
 * are deleted once the newer email was sent.
 */
async function findLinked(db: QueryRunner, { tokens }: Services, token: string): Promise<LinkedInvitation | null> {
  if (tokens.parseKind(token) !== 'invitation') return null;
  const [row] = await db.query(byToken, [hashSecret(token)]);
  return row ?? null;
}

/**
 * Finds the pending invitation of a link.
 * @returns null if the token is malformed or unknown, or the invitation was accepted, revoked or has expired
 */
export async function findInvitationByToken(
  db: QueryRunner,
  services: Services,
  token: string,
): Promise<LinkedInvitation | null> {
  const linked = await findLinked(db, services, token);
  return linked?.is_pending === true ? linked : null;
}

/**
 * Accepts a pending invitation for an account: creates its membership, or lets an expired one start anew. Needs no free
 * seat, because the invitation already uses one. Call it for a pending invitation, with its team, the account and itself locked.
 */
export async function acceptInvitation(tx: Change, invitation: Invitation, account: Account): Promise<void> {
  requireInvited(invitation, account);

  const { team, role } = invitation;
  const membership = await lockMembership(tx, team.id, account.id);
  if (membership === null) {
    tx.em.create(Membership, { team, account, role, joinedAt: new Date() });
    tx.record('member.added', { accountId: account.id, teamId: team.id, roleId: role.id });
  } else if (membership.isActive && membership.isExpired) {
    await endAbandonedInvitations(tx, team.id);
    await endAccess(tx, team.id, account.id);
    membership.role = role;
    Object.assign(membership, { expiresAt: null, isExpired: false });
    const terms = { roleId: role.id, isActive: true, expiresAt: null };
    tx.record('member.activated', { accountId: account.id, teamId: team.id, ...terms });
  }
  invitation.acceptedAt = raw<Date>('now()');
  tx.record('invitation.accepted', { accountId: account.id, teamId: team.id, invitationId: invitation.id });
}

/** Ends what an expired membership had, which would work again with it, as a removal does. */
async function endAccess(tx: Change, teamId: string, accountId: string): Promise<void> {
  const reason = 'membership started anew';
  await revokeGrants(tx, { account: accountId, team: teamId }, reason);
  await revokeApiKeys(tx, { account: accountId, team: teamId }, reason);
  deletePendingConsents(tx, { account: accountId, team: teamId });
  await disableEndpoints(tx, { account: accountId, team: teamId }, 'member_left');
}

/** A membership by an invitation, and the application that sent it. */
type Accepted = { readonly membership: Membership; readonly clientId: string | null };

/** Accepts an invitation by its link for the caller. Repeating it has the same result. @throws link_invalid */
export async function acceptByToken(services: Services, caller: Principal, token: string): Promise<Accepted> {
  const target = await findLinked(services.db, services, token);
  if (target === null) throw new ProblemError('link_invalid');
  const spec = {
    on: { account: caller.accountId, isShared: true },
    requires: 'self',
    first: [[lockTeamStep, [target.team_id]]],
  } as const;
  return change(services.db, caller, spec, async (tx, [[team]]) => {
    if (team === undefined) throw new ProblemError('link_invalid');
    const account = await tx.em.findOneOrFail(Account, caller.accountId);
    const invitation = await lockOne(tx, 'invitation', target.id);
    const linked = await findLinked(tx, services, token);
    if (invitation === null || linked === null) throw new ProblemError('link_invalid');

    const isUsed = !linked.is_pending;
    if (!isUsed) await acceptInvitation(tx, invitation, account);
    else if (!invitation.acceptedAt || !isInvited(invitation, account)) throw new ProblemError('link_invalid');

    const membership = await tx.em.findOne(
      Membership,
      { team: target.team_id, account: account.id },
      { populate: ['team', 'role'] },
    );
    if (membership === null || (isUsed && !isActiveNow(membership))) throw new ProblemError('link_invalid');
    return { membership, clientId: invitation.clientId ?? null };
  });
}

const isInvited = ({ email }: Invitation, account: Account): boolean =>
  isSameEmailAddress(account.email, email) && Boolean(account.emailVerifiedAt);

/** Requires that the account has the invited email address, verified. */
function requireInvited(invitation: Invitation, account: Account): void {
  if (!isSameEmailAddress(account.email, invitation.email)) throw new ProblemError('invitation_for_another');
  if (!account.emailVerifiedAt) throw new ProblemError('email_not_verified');
}
