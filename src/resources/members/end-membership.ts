import { command, type RowsOf } from '../../db/query.ts';
import { ABANDONED, endInvitations } from '../invitations/end-invitations.ts';
import { disableLocked } from '../../webhooks/disable.ts';
import {
  lockEndpointsOfMember,
  lockGrantsOfMember,
  lockInvitationsOfSender,
  lockKeysOfMember,
  lockMembershipStep,
  type EndedKey,
} from '../../transactions/lock-steps.ts';
import { grantFields, keyFields, revokeGrantsStep, revokeKeysStep } from '../../transactions/revocation.ts';
import type { Change } from '../../transactions/steps.ts';

/** Locks a membership of a locked team with all that ends with it. Lock the account first. */
export const lockMembershipSteps = (teamId: string, accountId: string) => {
  const member = [teamId, accountId] as const;
  return [
    [lockInvitationsOfSender, member],
    [lockMembershipStep, member],
    [lockGrantsOfMember, member],
    [lockKeysOfMember, member],
    [lockEndpointsOfMember, member],
  ] as const;
};

export type LockedMembership = RowsOf<ReturnType<typeof lockMembershipSteps>>;

/** Also deletes consents whose codes were not exchanged yet, so that an exchange does not restore access. */
const deleteMembership = command<never>(
  'membership_delete',
  `with offer as (delete from ownership_transfer where team_id = $1 and nominee_id = $2),
     consent as (delete from oauth_token_family where team_id = $1 and account_id = $2 and grant_id is null)
   delete from membership where team_id = $1 and account_id = $2`,
);

/**
 * Deletes a membership that `lockMembershipSteps` has locked. Also revokes the account's grants and keys for the team and
 * an offer of ownership, disables the webhook endpoints that it is responsible for, and ends the invitations to privileged
 * roles that it sent.
 * @param withInvitations whether its other invitations end too
 */
export async function endMembership(
  change: Change,
  teamId: string,
  accountId: string,
  [sent, , grants, keys, endpoints]: LockedMembership,
  withInvitations = false,
): Promise<void> {
  const reason = 'membership ended';
  change.later([deleteMembership, [teamId, accountId]]);
  if (grants.length > 0) change.later(revokeGrantsStep(grants));
  if (keys.length > 0) change.later(revokeKeysStep(keys));
  const isOfGrant = ({ oauth_grant_id: id }: EndedKey) => grants.some((grant) => grant.id === id);
  await change.record(
    'api_key.revoked',
    keys.map((key) => keyFields(key, isOfGrant(key) ? 'its grant ended' : reason)),
  );
  await change.record(
    'oauth_grant.revoked',
    grants.map((grant) => grantFields(grant, reason)),
  );
  const { privileged = [], others = [] } = Object.groupBy(sent, (each) =>
    each.is_privileged ? 'privileged' : 'others',
  );
  await endInvitations(change, teamId, privileged, ABANDONED);
  if (withInvitations) await endInvitations(change, teamId, others, reason);
  await disableLocked(change, endpoints, 'member_left');
}
