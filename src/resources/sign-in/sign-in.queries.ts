import { hashSecret } from '../../crypto/tokens.ts';
import { query, type QueryRunner } from '../../db/query.ts';

type Row = { account_id: string; password_hash: string | null; is_disabled: boolean; device_id: string | null };

const findForSignIn = query<Row>(
  'find_for_sign_in',
  `select a.id as account_id, a.password_hash, a.disabled_at is not null as is_disabled, d.id as device_id
   from account a
   left join known_device d on d.account_id = a.id and d.token_hash = $2
   where lower(a.email) = lower($1)`,
);

/** Who wants to sign in: one statement for known and unknown addresses, with and without a known browser. */
export async function findSignIn(db: QueryRunner, email: string, deviceToken: string | undefined) {
  const [row] = await db.query(findForSignIn, [email, deviceToken === undefined ? null : hashSecret(deviceToken)]);
  return {
    accountId: row?.account_id ?? null,
    passwordHash: row === undefined || row.is_disabled ? null : row.password_hash,
    deviceId: row?.device_id ?? null,
  };
}
