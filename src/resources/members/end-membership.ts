import { command, type RowsOf } from '../../db/query.ts';
import { ABANDONED, endInvitations } from '../invitations/end-invitations.ts';
import { disableLocked, type EndedEndpoint } from '../../webhooks/disable.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import { lockInvitationsOfSender, lockMembershipStep } from '../../transactions/lock-steps.ts';
import {
  grantFields,
  keyFields,
  revokeGrantsStep,
  revokeKeysStep,
  type RevokedGrant,
  type RevokedKey,
} from '../../transactions/revocation.ts';
import type { Change } from '../../transactions/steps.ts';

const OF_MEMBER = 'team_id = $1 and account_id = $2';

const lockGrantsOfMember = lockRows<RevokedGrant>(
  'oauth_grant',
  'oauth_grant_lock_of_member',
  `select id, account_id, client_id, team_id from oauth_grant where ${OF_MEMBER} and revoked_at is null`,
);

type EndedKey = RevokedKey & { readonly oauth_grant_id: string | null };

/** Locks the keys of a member for the team, and those that were created through the member's grants for it. */
const lockKeysOfMember = lockRows<EndedKey>(
  'api_key',
  'api_key_lock_of_member',
  // Two look-ups by index. For one condition with `or`, PostgreSQL can plan to read all keys of all grants.
  `select id, account_id, team_id, name, oauth_grant_id from api_key
   where revoked_at is null and id = any(array(
     select id from api_key where ${OF_MEMBER}
     union all
     select id from api_key where oauth_grant_id = any(
       array(select id from oauth_grant where ${OF_MEMBER} and revoked_at is null))))`,
);

const lockEndpointsOfMember = lockRows<EndedEndpoint>(
  'webhook_endpoint',
  'webhook_endpoint_lock_of_member',
  `select id, team_id, account_id, url from webhook_endpoint where ${OF_MEMBER} and disabled_at is null`,
);

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
