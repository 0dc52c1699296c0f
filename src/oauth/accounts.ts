import { query, type QueryRunner } from '../db/query.ts';

const findEnabledAccount = query<{ id: string }>(
  'account_check_enabled',
  'select id from account where id = $1 and disabled_at is null',
);

/** Returns the account of a token, in the form that oidc-provider expects. @returns undefined if it is disabled or deleted */
export async function findSubject(db: QueryRunner, accountId: string) {
  const [account] = await db.query(findEnabledAccount, [accountId]);
  return account && { accountId, claims: () => ({ sub: accountId }) };
}
