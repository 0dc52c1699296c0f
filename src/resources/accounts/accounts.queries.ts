import { query, type QueryRunner } from '../../db/query.ts';

const emailOfAccount = query<{ email: string | null }>('account_find_email', 'select email from account where id = $1');

const passwordOfAccount = query<{ hash: string | null }>(
  'account_find_password',
  'select password_hash as hash from account where id = $1',
);

/** Returns the email address of an account; null without one, or if the account was deleted. */
export const readEmail = async (db: QueryRunner, accountId: string): Promise<string | null> =>
  (await db.query(emailOfAccount, [accountId]))[0]?.email ?? null;

/** Returns the hash of an account’s password; null without one, or if the account was deleted. */
export const readPasswordHash = async (db: QueryRunner, accountId: string): Promise<string | null> =>
  (await db.query(passwordOfAccount, [accountId]))[0]?.hash ?? null;
