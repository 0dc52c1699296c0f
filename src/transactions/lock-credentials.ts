import { openSession } from '../db/predicates.ts';
import { proofsOf } from '../auth/session-proofs.ts';
import type { ProductPermission, Proofs, Scope } from '../entities/index.ts';
import { lock, lockRows, share } from './lock-order.ts';
import type { RevokedKey } from './revocation.ts';

export const lockSessionShared = share('session', 'session_lock_shared');

export type OriginGrant = { id: string; scopes: Scope[]; product_permissions: ProductPermission[]; expires_at: string };

export const lockGrantShared = share<OriginGrant>(
  'oauth_grant',
  'oauth_grant_lock_shared',
  'id, scopes, product_permissions, expires_at',
);

/** Locks the grant that an API key was created through. */
export const lockGrantOfKey = share<OriginGrant>(
  'oauth_grant',
  'oauth_grant_lock_of_key',
  'id, scopes, product_permissions, expires_at',
  'id = (select oauth_grant_id from api_key where id = $1)',
);

export const lockFamilyShared = share('oauth_token_family', 'oauth_token_family_lock_shared');

/** Locks the token family that an API key was created through. */
export const lockFamilyOfKey = share(
  'oauth_token_family',
  'oauth_token_family_lock_of_key',
  'id',
  'id = (select oauth_family_id from api_key where id = $1)',
);

export type LockedKey = {
  id: string;
  scopes: Scope[];
  product_permissions: ProductPermission[];
  family_id: string | null;
  rotation_id: string | null;
  created_at: string;
  expires_at: string | null;
};

export const lockKeyShared = share<LockedKey>(
  'api_key',
  'api_key_lock_shared',
  'id, scopes, product_permissions, oauth_family_id as family_id, rotation_id, created_at, expires_at',
);

export type LockedSession = {
  id: string;
  account_id: string;
  authentication_type: 'password' | 'passkey' | 'invitation' | 'email_link' | null;
  proofs: Proofs;
  is_open: boolean;
};

const SESSION = `select s.id, s.account_id, s.authentication_type, ${proofsOf('s')} as proofs, ${openSession('s')} as is_open
   from session s where s.revoked_at is null`;

/** Locks a session, if it is one of the given account. */
export const lockSession = lock<LockedSession>(
  'session',
  'session_lock',
  `${SESSION} and s.id = $1 and ($2::text is null or s.account_id = $2) for update`,
);

/** Locks the sessions of an account except one. */
export const lockSessionsOfAccount = lockRows<LockedSession>(
  'session',
  'session_lock_of_account',
  `${SESSION} and s.account_id = $1 and s.id <> $2`,
);

/** What is changed of an API key. */
export type KeyRow = RevokedKey & {
  scopes: Scope[];
  product_permissions: ProductPermission[];
  key_prefix: string;
  last4: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
};

const LIVE_KEY = `select id, account_id, team_id, name, scopes, product_permissions, key_prefix, last4, created_at, expires_at, last_used_at
   from api_key where revoked_at is null`;

export const lockKey = lock<KeyRow>('api_key', 'api_key_lock', `${LIVE_KEY} and id = $1 for update`);

/** Locks up to two API keys of an account, in one order, so that keys that change each other cannot deadlock. */
export const lockKeysOfAccount = lockRows<KeyRow>(
  'api_key',
  'api_key_lock_of_account',
  `${LIVE_KEY} and account_id = $1 and id in ($2, $3)`,
);

export const lockKeyOfTeam = lock<KeyRow>(
  'api_key',
  'api_key_lock_of_team',
  `${LIVE_KEY} and team_id = $1 and id = $2 for update`,
);
