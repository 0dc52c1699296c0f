import { command, type Command, type OpenSteps, type Step } from '../db/query.ts';
import type { Scope } from '../entities/index.ts';
import { LOCK_ORDER, LockOrderError, type LockTable } from './locks.ts';

const tables = new WeakMap<object, LockTable>();

/** Declares a statement that locks rows of a table, for `inSteps`. */
function lock<Row>(table: LockTable, name: string, text: string): Command<Row> {
  const declared = command<Row>(name, text);
  tables.set(declared, table);
  return declared;
}

export const lockTeamStep = lock<{ id: string }>('team', 'lock_team', 'select id from team where id = $1 for update');

export const lockAccountStep = lock<{ id: string; created_by: string | null; is_verified: boolean }>(
  'account',
  'lock_account',
  'select id, created_by, email_verified_at is not null as is_verified from account where id = $1 for update',
);

/** Prevents the deletion of up to two accounts. PostgreSQL plans it once, but again each time for an array of ids. */
export const lockAccountsShared = lock<{ id: string }>(
  'account',
  'lock_accounts_shared',
  'select id from account where id in ($1, $2) order by id for key share',
);

export type LockedInvitation = { id: string; created_at: string; is_expired: boolean };
const INVITATION = 'select id, created_at, expires_at <= now() as is_expired from invitation where team_id = $1';

/** Locks the invitation of an email address that was not accepted. It can have expired. */
export const lockInvitationByEmail = lock<LockedInvitation>(
  'invitation',
  'lock_invitation_by_email',
  `${INVITATION} and lower(email) = lower($2) and accepted_at is null for update`,
);

/** Locks an invitation that was not accepted. It can have expired. */
export const lockInvitation = lock<LockedInvitation>(
  'invitation',
  'lock_invitation',
  `${INVITATION} and id = $2 and accepted_at is null for update`,
);

/** Locks an invitation of any team, whatever its state. */
export const lockAnyInvitation = lock<{ id: string }>(
  'invitation',
  'lock_any_invitation',
  'select id from invitation where id = $1 for update',
);

const OF_MEMBER = 'team_id = $1 and account_id = $2';

export const lockMembershipStep = lock<{ id: string; role_id: string }>(
  'membership',
  'lock_membership',
  `select id, role_id from membership where ${OF_MEMBER} for update`,
);

export type EndedGrant = { id: string; account_id: string; client_id: string; team_id: string | null };

export const lockGrantsOfMember = lock<EndedGrant>(
  'oauth_grant',
  'lock_grants_of_member',
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
  'lock_keys_of_member',
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
  'lock_endpoints_of_member',
  `select id, team_id, account_id, url from webhook_endpoint where ${OF_MEMBER} and disabled_at is null
   order by id for update`,
);

export const lockSessionShared = lock<{ id: string }>(
  'session',
  'lock_session_shared',
  'select id from session where id = $1 for share',
);

export type OriginGrant = { id: string; scopes: Scope[]; expires_at: string };

export const lockGrantShared = lock<OriginGrant>(
  'oauth_grant',
  'lock_grant_shared',
  'select id, scopes, expires_at from oauth_grant where id = $1 for share',
);

/** Locks the grant that an API key was created through. */
export const lockGrantOfKey = lock<OriginGrant>(
  'oauth_grant',
  'lock_grant_of_key',
  `select id, scopes, expires_at from oauth_grant
   where id = (select oauth_grant_id from api_key where id = $1) for share`,
);

export const lockFamilyShared = lock<{ id: string }>(
  'oauth_token_family',
  'lock_family_shared',
  'select id from oauth_token_family where id = $1 for share',
);

/** Locks the token family that an API key was created through. */
export const lockFamilyOfKey = lock<{ id: string }>(
  'oauth_token_family',
  'lock_family_of_key',
  'select id from oauth_token_family where id = (select oauth_family_id from api_key where id = $1) for share',
);

export type LockedKey = { scopes: Scope[]; family_id: string | null };

export const lockKeyShared = lock<LockedKey>(
  'api_key',
  'lock_key_shared',
  'select scopes, oauth_family_id as family_id from api_key where id = $1 for share',
);

/** Enforces LOCK_ORDER for the statements above, outside of production. @throws LockOrderError */
export function inLockOrder(open: OpenSteps): OpenSteps {
  if (process.env['NODE_ENV'] === 'production') return open;
  let highest = 0;
  const check = ([statement]: Step) => {
    const table = tables.get(statement);
    if (table === undefined) return;
    const rank = LOCK_ORDER.indexOf(table);
    if (rank < highest) throw new LockOrderError(`${table} must be locked before ${LOCK_ORDER[highest]}.`);
    highest = rank;
  };
  return {
    later: open.later,
    async run(steps) {
      steps.forEach(check);
      return open.run(steps);
    },
  };
}
