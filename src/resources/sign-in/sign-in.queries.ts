import { hashSecret } from '../../crypto/tokens.ts';
import type { SchemeShare } from '../../crypto/scheme-choice.ts';
import { query, type QueryRunner } from '../../db/query.ts';

type Row = {
  account_id: string | null;
  password_hash: string | null;
  is_disabled: boolean;
  device_id: string | null;
  attempt_id: string | null;
  attempt_hash: string | null;
  schemes: string | null;
};

const findForSignIn = query<Row>(
  'account_find_for_sign_in',
  `select a.id as account_id, a.password_hash, a.disabled_at is not null as is_disabled, d.id as device_id,
     s.id as attempt_id, s.password_hash as attempt_hash,
     (select string_agg(accounts || ' ' || scheme, chr(10)) from password_scheme where accounts > 0) as schemes
   from (values (lower($1::text))) as address (email)
   left join account a on lower(a.email) = address.email
   left join known_device d on d.account_id = a.id and d.token_hash = $2
   left join lateral (
     select id, password_hash from sign_up_attempt
     where lower(email) = address.email and browser_hash = $2 and expires_at > now()
     order by id desc limit 1
   ) s on true`,
);

/**
 * Finds the account of an email address, and the sign-up of this browser. It is one statement in every case, so that its
 * duration does not reveal whether an account exists.
 */
export async function findSignIn(db: QueryRunner, email: string, deviceToken: string | undefined) {
  const [row] = await db.query(findForSignIn, [email, deviceToken === undefined ? null : hashSecret(deviceToken)]);
  const { account_id: accountId = null, device_id: deviceId = null } = row ?? {};
  return {
    accountId,
    /** Also of a disabled account, so that its sign-ins take the same work as before. */
    passwordHash: row?.password_hash ?? null,
    isDisabled: row?.is_disabled ?? false,
    deviceId,
    schemes: row?.schemes?.split('\n').map(toShare) ?? [],
    attempt:
      row === undefined || row.attempt_id === null || row.attempt_hash === null
        ? null
        : { id: row.attempt_id, passwordHash: row.attempt_hash },
  };
}

function toShare(line: string): SchemeShare {
  const [accounts = '', scheme = ''] = line.split(' ', 2);
  return { scheme, accounts: Number(accounts) };
}

export type SignInTarget = Awaited<ReturnType<typeof findSignIn>>;
