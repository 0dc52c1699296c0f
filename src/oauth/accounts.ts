import { statement, type Read } from '../db/query.ts';

const liveAccount = statement<{ id: string }>(
  'live_oauth_account',
  'select id from account where id = $1 and disabled_at is null',
);

/** The account that tokens are made for, as the engine asks for it; nobody while it is disabled. */
export async function findSubject(read: Read, accountId: string) {
  const [account] = await read(liveAccount, [accountId]);
  return account && { accountId, claims: () => ({ sub: accountId }) };
}
