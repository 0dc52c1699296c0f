import { isPrivileged, requireCanGrant, type Weight } from '../../auth/permissions.ts';
import type { Config } from '../../config/config.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { newId } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { jobStep, invitationKey } from '../../jobs/enqueue.ts';
import { noticeSteps, noticeTargetStep } from '../../jobs/notify.ts';
import { getInvitationUrl } from '../../email/invitation-email.ts';
import type { Services } from '../../service/services.ts';
import { ABANDONED } from './end-invitations.ts';
import { change } from '../../transactions/change.ts';
import { pendingInvitation } from '../../db/predicates.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import { requireProofToGive } from '../../transactions/require-proof.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import type { TeamCaller } from '../../transactions/caller.ts';
import { requireTeamRole, roleOfTeam } from '../roles/find-team-role.ts';
import { requireFree, seatsOfTeam } from '../billing/seats.ts';
import { addDays } from '../../time.ts';
import type { InvitationFields } from './invitations.schema.ts';
import { deleteStep, insertStep, linkStep, renewStep, roleOfInvitation } from './invitations.statements.ts';

type LockedInvitation = { id: string; created_at: string; is_expired: boolean; is_abandoned: boolean };
/** `is_expired`: it cannot be accepted any more; `is_abandoned`: although its time has not passed. */
const INVITATION = `select i.id, i.created_at, not (${pendingInvitation('i')}) as is_expired,
     i.expires_at > now() and not (${pendingInvitation('i')}) as is_abandoned
   from invitation i where i.team_id = $1`;

/** Locks the invitation of an email address that was not accepted. It can have expired. */
const lockInvitationByEmail = lockRows<LockedInvitation>(
  'invitation',
  'invitation_lock_by_email',
  `${INVITATION} and lower(i.email) = lower($2) and i.accepted_at is null`,
);

/** Locks an invitation that was not accepted. It can have expired. */
const lockInvitation = lockRows<LockedInvitation>(
  'invitation',
  'invitation_lock',
  `${INVITATION} and i.id = $2 and i.accepted_at is null`,
);

type NewInvitation = { readonly email: string; readonly roleId: string; readonly isSystemRole: boolean };

/** Invites an email address, or renews its pending invitation, and queues the email in the same transaction. */
export const createTeamInvitation = (services: Services, caller: TeamCaller, input: NewInvitation): Promise<void> =>
  invite(services, caller, input, (opened, { id }) => queueNewLink(opened, services, id));

/** Also returns a link that the inviter can share. Opening it does not verify the invited email address. */
export const inviteWithLink = (services: Services, caller: TeamCaller, input: NewInvitation) =>
  invite(services, caller, input, (opened, invitation) => {
    const { secret, hash } = services.tokens.generate('invitation');
    opened.later(linkStep(invitation.id, hash, false));
    queueNewLink(opened, services, invitation.id, hash);
    return { invitation, link: getInvitationUrl(services.config.baseUrl, secret) };
  });

const invite = <R>(
  { db, config }: Services,
  caller: TeamCaller,
  input: NewInvitation,
  finish: (opened: Change, invitation: InvitationFields) => R,
): Promise<R> => {
  const { teamId } = caller;
  const reads = [
    [roleOfTeam, [teamId, input.roleId]],
    [lockInvitationByEmail, [teamId, input.email]],
    [seatsOfTeam, [teamId]],
    nowStep,
  ] as const;
  return change(
    db,
    caller,
    { on: { team: teamId }, requires: 'invite_members', reads },
    async (opened, [roles, found, seats, time]) => {
      const role = requireTeamRole(roles[0], '/roleId');
      if (role.is_system !== input.isSystemRole)
        throw invalidInput('/isSystemRole', '`isSystemRole` does not match the role.');
      requireCanGrant(opened.role, role);
      const [known] = found;
      const pending = isPending(found) ? known : undefined;
      if (pending === undefined) requireFree(config.plans, seats);
      await requireProofToGive(role, opened, caller.credential);
      await notifyOfPrivileged(opened, caller, role, input.email);

      const now = toNow(time);
      const id = pending?.id ?? newId('invt');
      const createdAt = new Date(pending?.created_at ?? now);
      const fields = { id, email: input.email, roleId: role.id, ...newTerms(now, config, caller) };
      if (known?.is_expired) opened.later(deleteStep(known.id));
      if (known?.is_abandoned)
        opened.record('invitation.revoked', { teamId, invitationId: known.id, reason: ABANDONED });
      opened.later(pending === undefined ? insertStep({ ...fields, teamId, createdAt }) : renewStep(fields));
      opened.record(pending === undefined ? 'invitation.created' : 'invitation.renewed', { teamId, invitationId: id });
      return finish(opened, {
        ...fields,
        role: { id: role.id, name: role.name, isSystemRole: role.is_system },
        createdAt,
      });
    },
  );
};

/** Sends a pending invitation again with a new link and expiry. The caller needs the permissions of its role. */
export async function resendInvitation(services: Services, caller: TeamCaller, invitationId: string): Promise<void> {
  const { teamId } = caller;
  const reads = [[lockInvitation, [teamId, invitationId]], [roleOfInvitation, [invitationId]], nowStep] as const;
  await change(
    services.db,
    caller,
    { on: { team: teamId }, requires: 'invite_members', reads },
    async (opened, [found, roles, time]) => {
      const [role] = roles;
      if (!isPending(found) || role === undefined) throw new ProblemError('invitation_not_found');
      requireCanGrant(opened.role, role);
      await requireProofToGive(role, opened, caller.credential);
      await notifyOfPrivileged(opened, caller, role, role.email);

      opened.later(renewStep({ id: invitationId, ...newTerms(toNow(time), services.config, caller) }));
      opened.record('invitation.resent', { teamId, invitationId });
      queueNewLink(opened, services, invitationId);
    },
  );
}

/** Deletes a pending invitation and its links, which frees its seat. */
export function revokeTeamInvitation(db: TransactionScope, caller: TeamCaller, invitationId: string): Promise<void> {
  const { teamId } = caller;
  const reads = [[lockInvitation, [teamId, invitationId]]] as const;
  return change(db, caller, { on: { team: teamId }, requires: 'invite_members', reads }, (opened, [found]) => {
    if (!isPending(found)) throw new ProblemError('invitation_not_found');
    opened.later(deleteStep(invitationId));
    opened.record('invitation.revoked', { teamId, invitationId });
  });
}

/** Notifies the account that invites to a privileged role. */
async function notifyOfPrivileged(
  opened: Change,
  { accountId, teamId }: TeamCaller,
  role: Weight & { readonly name: string },
  person: string | undefined,
): Promise<void> {
  if (!isPrivileged(role)) return;
  const [targets] = await opened.run([noticeTargetStep(accountId)]);
  const notice = { kind: 'invitation_sent', thing: role.name, person, teamId } as const;
  for (const step of noticeSteps(accountId, targets, notice)) opened.later(step);
}

const isPending = ([invitation]: readonly LockedInvitation[]): boolean => invitation?.is_expired === false;

/** Who sends it, until when it can be accepted, and the first-party application with whose token it was sent. */
const newTerms = (now: Date, { invitationDays }: Config, { accountId, credential }: TeamCaller) => ({
  invitedBy: accountId,
  expiresAt: addDays(now, invitationDays),
  clientId: credential?.sessionId ? (credential.clientId ?? null) : null,
});

/**
 * Queues the invitation's email with a new link. All earlier links stay valid until this email was sent.
 * @param copiedLink the hash of the link that was returned to the inviter together with this email; it stays valid
 */
function queueNewLink(
  opened: Change,
  { tokens, encryption }: Services,
  invitationId: string,
  copiedLink?: Buffer,
): void {
  const { secret, hash } = tokens.generate('invitation');
  opened.later(linkStep(invitationId, hash, true));
  const payload = {
    invitationId,
    sealedToken: encryption.encrypt(secret),
    ...(copiedLink === undefined ? {} : { copiedLink: copiedLink.toString('hex') }),
  };
  opened.later(jobStep('sendInvitation', payload, invitationKey(invitationId)));
}
