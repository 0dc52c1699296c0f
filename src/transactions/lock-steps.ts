import { openInvitation, pendingInvitation, privilegedRole } from '../db/predicates.ts';
import { lock, share } from './lock-order.ts';

export const lockTeamStep = lock<{ id: string }>('team', 'team_lock', 'select id from team where id = $1 for update');

/** Locks the teams of an account, before the account. Repeat it then: a team can have come between. */
export const lockOwnedTeams = lock<{ id: string }>(
  'team',
  'team_lock_owned',
  `select id from team
   where id = any(array(select team_id from membership where account_id = $1 and role_id = 'owner'))
   order by id for update`,
);

export const lockOwnerOfClient = lock<{ id: string }>(
  'account',
  'account_lock_owner_of_client',
  'select id from account where id = (select account_id from oauth_client where id = $1) for update',
);

export type LockedRequest = {
  id: string;
  client_id: string;
  redirect_uri: string;
  scope: string;
  resource: string | null;
};

/** Locks the open authorization request of a browser. */
export const lockAuthorizationRequest = lock<LockedRequest>(
  'authorization_request',
  'authorization_request_lock',
  `select encode(id_hash, 'hex') as id, payload->'params'->>'client_id' as client_id,
     payload->'params'->>'scope' as scope, payload->'params'->>'resource' as resource,
     payload->'params'->>'redirect_uri' as redirect_uri
   from authorization_request
   where id_hash = $1 and browser_hash = $2 and result is null and expires_at > now() for update`,
);

/** Locks up to two operator keys, in one order, so that keys that change each other cannot deadlock. */
export const lockOperatorKeys = lock<{ id: string }>(
  'operator_key',
  'operator_key_lock_many',
  'select id from operator_key where id in ($1, $2) order by id for update',
);

/** Prevents the revocation of an operator key. */
export const lockOperatorKeyShared = lock<{ id: string }>(
  'operator_key',
  'operator_key_lock_shared',
  'select id from operator_key where id = $1 for key share',
);

export type LockedAccount = {
  id: string;
  created_by: string | null;
  is_verified: boolean;
  is_disabled: boolean;
  is_operator: boolean;
};

const ACCOUNT = `id, created_by, email_verified_at is not null as is_verified, disabled_at is not null as is_disabled,
     role = 'admin' as is_operator`;

export const lockAccountStep = lock<LockedAccount>(
  'account',
  'account_lock',
  `select ${ACCOUNT} from account where id = $1 for update`,
);

export const lockAccountShared = share<LockedAccount>('account', 'account_lock_shared', ACCOUNT);

/** Locks an account and that of the operator who changes it, in one order. */
export const lockAccountsOfOperator = lock<LockedAccount>(
  'account',
  'account_lock_of_operator',
  `select ${ACCOUNT} from account where id in ($1, $2) order by id for update`,
);

/** Prevents the deletion of up to two accounts. PostgreSQL plans it once, but again each time for an array of ids. */
export const lockAccountsShared = lock<{ id: string }>(
  'account',
  'account_lock_shared_many',
  'select id from account where id in ($1, $2) order by id for key share',
);

/** Prevents the deletion of an OAuth client. */
export const lockClientShared = lock<{ id: string }>(
  'oauth_client',
  'oauth_client_lock_shared',
  'select id from oauth_client where id = $1 for key share',
);

export type LockedInvitation = { id: string; created_at: string; is_expired: boolean; is_abandoned: boolean };
/** `is_expired`: it cannot be accepted any more; `is_abandoned`: although its time has not passed. */
const INVITATION = `select i.id, i.created_at, not (${pendingInvitation('i')}) as is_expired,
     i.expires_at > now() and not (${pendingInvitation('i')}) as is_abandoned
   from invitation i where i.team_id = $1`;

/** Locks the invitation of an email address that was not accepted. It can have expired. */
export const lockInvitationByEmail = lock<LockedInvitation>(
  'invitation',
  'invitation_lock_by_email',
  `${INVITATION} and lower(i.email) = lower($2) and i.accepted_at is null for update`,
);

/** Locks an invitation that was not accepted. It can have expired. */
export const lockInvitation = lock<LockedInvitation>(
  'invitation',
  'invitation_lock',
  `${INVITATION} and i.id = $2 and i.accepted_at is null for update`,
);

export type SentInvitation = { id: string; is_privileged: boolean };

/** Locks the open invitations that an account sent or renewed last. */
export const lockInvitationsOfSender = lock<SentInvitation>(
  'invitation',
  'invitation_lock_of_sender',
  `select i.id, ${privilegedRole('granted')} as is_privileged
   from invitation i join role granted on granted.id = i.role_id
   where i.team_id = $1 and i.invited_by_id = $2 and ${openInvitation('i')}
   order by i.id for update of i`,
);

/** Locks an invitation of any team, whatever its state. */
export const lockAnyInvitation = lock<{ id: string }>(
  'invitation',
  'invitation_lock_any',
  'select id from invitation where id = $1 for update',
);

const OF_MEMBER = 'team_id = $1 and account_id = $2';

export const lockMembershipStep = lock<{ id: string; role_id: string }>(
  'membership',
  'membership_lock',
  `select id, role_id from membership where ${OF_MEMBER} for update`,
);

export type EndedGrant = { id: string; account_id: string; client_id: string; team_id: string | null };

export const lockGrantOfAccount = lock<{ id: string }>(
  'oauth_grant',
  'oauth_grant_lock_of_account',
  'select id from oauth_grant where account_id = $1 and id = $2 for update',
);

export const lockGrantsOfMember = lock<EndedGrant>(
  'oauth_grant',
  'oauth_grant_lock_of_member',
  `select id, account_id, client_id, team_id from oauth_grant where ${OF_MEMBER} and revoked_at is null
   order by id for update`,
);

export type EndedKey = {
  id: string;
  account_id: string;
  team_id: string | null;
  name: string;
  oauth_grant_id: string | null;
};

/** Locks the keys of a member for the team, and those that were created through the member's grants for it. */
export const lockKeysOfMember = lock<EndedKey>(
  'api_key',
  'api_key_lock_of_member',
  // Two look-ups by index. For one condition with `or`, PostgreSQL can plan to read all keys of all grants.
  `select id, account_id, team_id, name, oauth_grant_id from api_key
   where revoked_at is null and id = any(array(
     select id from api_key where ${OF_MEMBER}
     union all
     select id from api_key where oauth_grant_id = any(
       array(select id from oauth_grant where ${OF_MEMBER} and revoked_at is null))))
   order by id for update`,
);

export type EndedEndpoint = { id: string; team_id: string | null; account_id: string | null; url: string };

export const lockEndpointsOfMember = lock<EndedEndpoint>(
  'webhook_endpoint',
  'webhook_endpoint_lock_of_member',
  `select id, team_id, account_id, url from webhook_endpoint where ${OF_MEMBER} and disabled_at is null
   order by id for update`,
);
