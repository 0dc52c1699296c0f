import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { canGrant } from '../../access/permissions.ts';
import type { ActiveMembership } from '../../access/principal.ts';
import { Account, Invitation, InvitationLink, Role, Team, type Permission } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import { enqueue, invitationKey } from '../../jobs/enqueue.ts';
import type { Services } from '../../rpc/context.ts';
import { requireFreeSeat } from '../billing/seats.ts';

type NewInvitation = { readonly email: string; readonly roleId: string; readonly isSystemRole: boolean };

const DAY_MS = 24 * 60 * 60 * 1000;

/** Invites an address, or renews its pending invitation, and queues the mail in the same transaction. */
export async function createTeamInvitation(
  services: Services,
  { team, permissions, accountId }: ActiveMembership,
  input: NewInvitation,
) {
  const { config, secrets, sealer } = services;
  await services.db.em().transactional(async (tx) => {
    // The team's row is the lock that its seats are counted under.
    await tx.findOne(Team, team.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const role = await grantableRole(tx, permissions, team.id, input);
    const pending = await pendingInvitation(tx, team.id, input.email);
    if (pending === null) await requireFreeSeat(tx, config.plans, team.id);

    const expiresAt = new Date(Date.now() + config.invitationDays * DAY_MS);
    const invitation = pending ?? tx.create(Invitation, { team: team.id, email: input.email, role, expiresAt });
    tx.assign(invitation, { email: input.email, role, expiresAt, invitedBy: tx.getReference(Account, accountId) });

    const { secret, hash } = secrets.mint('invitation');
    // Links of earlier mails go when this mail has left, not before.
    tx.create(InvitationLink, { tokenHash: hash, invitation });
    await tx.flush();
    await enqueue(
      tx,
      'sendInvitation',
      { invitationId: invitation.id, sealedToken: sealer.seal(secret) },
      invitationKey(invitation.id),
    );
  });
}

async function grantableRole(
  tx: EntityManager,
  held: readonly Permission[],
  teamId: string,
  input: NewInvitation,
): Promise<Role> {
  const role = await tx.findOne(Role, { id: input.roleId, $or: [{ team: null }, { team: teamId }] });
  if (role === null) throw invalid('/roleId', 'No role of this team has that id.');
  if (role.isSystemRole !== input.isSystemRole) throw invalid('/isSystemRole', 'The flag does not fit the role.');
  if (!canGrant(held, role)) throw new ProblemError('role_not_assignable');
  return role;
}

const invalid = (pointer: string, detail: string) =>
  new ProblemError('validation_failed', detail, { errors: [{ in: 'body', pointer, code: 'invalid_value' }] });

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
