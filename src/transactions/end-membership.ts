import { command, type RowsOf } from '../db/query.ts';
import { disableLocked } from './disable-webhooks.ts';
import {
  lockEndpointsOfMember,
  lockGrantsOfMember,
  lockKeysOfMember,
  lockMembershipStep,
  type EndedKey,
} from './lock-steps.ts';
import { grantFields, keyFields, revokeGrantsStep, revokeKeysStep } from './revocation.ts';
import type { Change } from './steps.ts';

/** Locks a membership of a locked team with all that ends with it. Lock the account first. */
export const lockMembershipSteps = (teamId: string, accountId: string) => {
  const member = [teamId, accountId] as const;
  return [
    [lockMembershipStep, member],
    [lockGrantsOfMember, member],
    [lockKeysOfMember, member],
    [lockEndpointsOfMember, member],
  ] as const;
};

export type LockedMembership = RowsOf<ReturnType<typeof lockMembershipSteps>>;

/** Also deletes consents whose codes were not exchanged yet, so that an exchange does not restore access. */
const deleteMembership = command<never>(
  'delete_membership',
  `with offer as (delete from ownership_transfer where team_id = $1 and nominee_id = $2),
     consent as (delete from oauth_token_family where team_id = $1 and account_id = $2 and grant_id is null)
   delete from membership where team_id = $1 and account_id = $2`,
);
/**
 * Deletes a membership that `lockMembershipSteps` has locked. Also revokes the account's grants and keys for the team and
 * an offer of ownership, and disables the webhook endpoints that it is responsible for.
 */
export async function endMembership(
  change: Change,
  teamId: string,
  accountId: string,
  [, grants, keys, endpoints]: LockedMembership,
): Promise<void> {
  const reason = 'membership ended';
  change.later([deleteMembership, [teamId, accountId]]);
  if (grants.length > 0) change.later(revokeGrantsStep(grants));
  if (keys.length > 0) change.later(revokeKeysStep(keys));
  const isOfGrant = ({ oauth_grant_id: id }: EndedKey) => grants.some((grant) => grant.id === id);
  change.record('api_key.revoked', ...keys.map((key) => keyFields(key, isOfGrant(key) ? 'its grant ended' : reason)));
  change.record('oauth_grant.revoked', ...grants.map((grant) => grantFields(grant, reason)));
  await disableLocked(change, endpoints, 'member_left');
}
