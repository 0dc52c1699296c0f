import { query, type QueryRunner } from '../db/query.ts';

const liveAccount = query<{ id: string }>(
  'live_oauth_account',
  'select id from account where id = $1 and disabled_at is null',
);

/** The account that tokens are made for, as the engine asks for it; nobody while it is disabled. */
export async function findSubject(db: QueryRunner, accountId: string) {
  const [account] = await db.query(liveAccount, [accountId]);
  return account && { accountId, claims: () => ({ sub: accountId }) };
}
