import { openInvitation, privilegedRole } from '../db/predicates.ts';
import { lock, lockRows, share } from './lock-order.ts';

export const lockTeamStep = lock<{ id: string }>('team', 'team_lock', 'select id from team where id = $1 for update');

/** Locks up to two operator keys, in one order, so that keys that change each other cannot deadlock. */
export const lockOperatorKeys = lockRows(
  'operator_key',
  'operator_key_lock_many',
  'select id from operator_key where id in ($1, $2)',
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
export const lockAccountsOfOperator = lockRows<LockedAccount>(
  'account',
  'account_lock_of_operator',
  `select ${ACCOUNT} from account where id in ($1, $2)`,
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

/** Locks the open invitations that an account sent or renewed last. */
export const lockInvitationsOfSender = lock<{ id: string; is_privileged: boolean }>(
  'invitation',
  'invitation_lock_of_sender',
  `select i.id, ${privilegedRole('granted')} as is_privileged
   from invitation i join role granted on granted.id = i.role_id
   where i.team_id = $1 and i.invited_by_id = $2 and ${openInvitation('i')}
   order by i.id for update of i`,
);

export const lockMembershipStep = lock<{ id: string; role_id: string }>(
  'membership',
  'membership_lock',
  'select id, role_id from membership where team_id = $1 and account_id = $2 for update',
);
