import { requireCanGrant } from '../../auth/permissions.ts';
import type { Config } from '../../config.ts';
import { newId } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { jobStep, invitationKey } from '../../jobs/enqueue.ts';
import { getInvitationUrl } from '../../email/invitation-email.ts';
import type { Services } from '../../app-services.ts';
import { changeTeam } from '../../transactions/change-team.ts';
import { lockInvitation, lockInvitationByEmail, type LockedInvitation } from '../../transactions/lock-steps.ts';
import type { Change } from '../../transactions/steps.ts';
import type { TeamCaller } from '../../transactions/with-team.ts';
import { requireTeamRole, roleOfTeam } from '../roles/find-team-role.ts';
import { requireFree, seatsOfTeam } from '../billing/seats.ts';
import { addDays } from '../../time.ts';
import type { InvitationFields } from './invitations.schema.ts';
import { deleteStep, insertStep, linkStep, renewStep, roleOfInvitation } from './invitations.statements.ts';

type NewInvitation = { readonly email: string; readonly roleId: string; readonly isSystemRole: boolean };

/** Invites an email address, or renews its pending invitation, and queues the email in the same transaction. */
export const createTeamInvitation = (services: Services, caller: TeamCaller, input: NewInvitation): Promise<void> =>
  invite(services, caller, input, (change, { id }) => queueNewLink(change, services, id));

/** Also returns a link that the inviter can share. Opening it does not verify the invited email address. */
export const inviteWithLink = (services: Services, caller: TeamCaller, input: NewInvitation) =>
  invite(services, caller, input, (change, invitation) => {
    const { secret, hash } = services.tokens.generate('invitation');
    change.later(linkStep(invitation.id, hash, false));
    queueNewLink(change, services, invitation.id, hash);
    return { invitation, link: getInvitationUrl(services.config.baseUrl, secret) };
  });

const invite = <R>(
  { db, config }: Services,
  caller: TeamCaller,
  input: NewInvitation,
  finish: (change: Change, invitation: InvitationFields) => R,
): Promise<R> => {
  const { teamId, accountId: invitedBy } = caller;
  const reads = [
    [roleOfTeam, [teamId, input.roleId]],
    [lockInvitationByEmail, [teamId, input.email]],
    [seatsOfTeam, [teamId]],
  ] as const;
  return changeTeam(db, caller, 'invite_members', { reads }, ({ change, caller: held }, [roles, found, seats]) => {
    const role = requireTeamRole(roles[0], '/roleId');
    if (role.is_system !== input.isSystemRole)
      throw invalidInput('/isSystemRole', '`isSystemRole` does not match the role.');
    requireCanGrant(held.permissions, role);
    const [known] = found;
    const pending = isPending(found) ? known : undefined;
    if (pending === undefined) requireFree(config.plans, seats);

    const id = pending?.id ?? newId('invt');
    const createdAt = pending === undefined ? new Date() : new Date(pending.created_at);
    const fields = { id, email: input.email, roleId: role.id, invitedBy, expiresAt: createExpiry(config) };
    if (known?.is_expired) change.later(deleteStep(known.id));
    change.later(pending === undefined ? insertStep({ ...fields, teamId, createdAt }) : renewStep(fields));
    change.record(pending === undefined ? 'invitation.created' : 'invitation.renewed', { teamId, invitationId: id });
    return finish(change, {
      ...fields,
      role: { id: role.id, name: role.name, isSystemRole: role.is_system },
      createdAt,
    });
  });
};

/** Sends a pending invitation again with a new link and expiry. The caller needs the permissions of its role. */
export async function resendInvitation(services: Services, caller: TeamCaller, invitationId: string): Promise<void> {
  const { teamId, accountId: invitedBy } = caller;
  const reads = [
    [lockInvitation, [teamId, invitationId]],
    [roleOfInvitation, [invitationId]],
  ] as const;
  await changeTeam(services.db, caller, 'invite_members', { reads }, ({ change, caller: held }, [found, roles]) => {
    const [role] = roles;
    if (!isPending(found) || role === undefined) throw new ProblemError('invitation_not_found');
    requireCanGrant(held.permissions, role);

    change.later(renewStep({ id: invitationId, invitedBy, expiresAt: createExpiry(services.config) }));
    change.record('invitation.resent', { teamId, invitationId });
    queueNewLink(change, services, invitationId);
  });
}

/** Deletes a pending invitation and its links, which frees its seat. */
export function revokeTeamInvitation({ db }: Services, caller: TeamCaller, invitationId: string): Promise<void> {
  const { teamId } = caller;
  const reads = [[lockInvitation, [teamId, invitationId]]] as const;
  return changeTeam(db, caller, 'invite_members', { reads }, ({ change }, [found]) => {
    if (!isPending(found)) throw new ProblemError('invitation_not_found');
    change.later(deleteStep(invitationId));
    change.record('invitation.revoked', { teamId, invitationId });
  });
}

const isPending = ([invitation]: readonly LockedInvitation[]): boolean => invitation?.is_expired === false;

const createExpiry = ({ invitationDays }: Config): Date => addDays(new Date(), invitationDays);

/**
 * Queues the invitation's email with a new link. All earlier links stay valid until this email was sent.
 * @param copiedLink the hash of the link that was returned to the inviter together with this email; it stays valid
 */
function queueNewLink(
  change: Change,
  { tokens, encryption }: Services,
  invitationId: string,
  copiedLink?: Buffer,
): void {
  const { secret, hash } = tokens.generate('invitation');
  change.later(linkStep(invitationId, hash, true));
  const payload = {
    invitationId,
    sealedToken: encryption.encrypt(secret),
    ...(copiedLink === undefined ? {} : { copiedLink: copiedLink.toString('hex') }),
  };
  change.later(jobStep('sendInvitation', payload, invitationKey(invitationId)));
}
