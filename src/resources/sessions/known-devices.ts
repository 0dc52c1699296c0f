import type { Change } from '../../transactions/steps.ts';
import { randomBytes } from 'node:crypto';
import { raw } from '@mikro-orm/postgresql';
import { hashSecret } from '../../crypto/tokens.ts';
import { command, query, type QueryRunner } from '../../db/query.ts';
import { type Account, KnownDevice, newId } from '../../entities/index.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';

const DEVICE_TOKEN_BYTES = 32;

/** Returns the token of the browser's cookie, or a new one, which is not stored. */
export const getDeviceToken = ({ deviceToken }: BrowserClient): string =>
  deviceToken ?? randomBytes(DEVICE_TOKEN_BYTES).toString('base64url');

const insertDevice = command<never>(
  'known_device_insert',
  `insert into known_device (id, created_at, account_id, token_hash, last_seen_at) values ($1, now(), $2, $3, now())`,
);

/**
 * Makes the browser a known one of the account. Its password attempts are counted separately, so that attackers cannot
 * exhaust them. Call it after a sign-in, or after the browser has opened an emailed link.
 */
export async function rememberDevice(tx: Change, account: Account, browserClient: BrowserClient) {
  const token = getDeviceToken(browserClient);
  const tokenHash = hashSecret(token);
  const known = await tx.em.findOne(KnownDevice, { account: account.id, tokenHash });
  if (known !== null) {
    known.lastSeenAt = raw<Date>('now()');
    return { token, tokenHash, isNew: false, isFirst: false };
  }
  const isFirst = (await tx.em.count(KnownDevice, { account: account.id })) === 0;
  tx.later([insertDevice, [newId('dev'), account.id, tokenHash]]);
  return { token, tokenHash, isNew: true, isFirst };
}

/**
 * Forgets the browsers of an account that is being reclaimed: one of them can be somebody else's, who would have guesses
 * of their own and could sign in without a notice.
 */
export const forgetDevices = (
  tx: Change,
  accountId: string,
  { deviceToken }: Pick<BrowserClient, 'deviceToken'>,
): void => tx.later([deleteDevices, [accountId, deviceToken === undefined ? null : hashSecret(deviceToken)]]);

const deleteDevices = command<never>(
  'known_device_delete_of_account',
  'delete from known_device where account_id = $1 and ($2::bytea is null or token_hash <> $2)',
);

const findDevice = query<{ id: string }>(
  'known_device_find',
  `select d.id from known_device d join account a on a.id = d.account_id
   where lower(a.email) = lower($1) and d.token_hash = $2`,
);

/** Returns the id of the calling browser, or null if the account of the email address does not know it. */
export async function findKnownDevice(
  db: QueryRunner,
  email: string,
  { deviceToken }: BrowserClient,
): Promise<string | null> {
  if (deviceToken === undefined) return null;
  const [row] = await db.query(findDevice, [email, hashSecret(deviceToken)]);
  return row?.id ?? null;
}

/** Returns whether a locked account knows the calling browser. */
export const isKnownDevice = async (tx: Change, account: Account, { deviceToken }: BrowserClient) =>
  deviceToken !== undefined &&
  (await tx.em.count(KnownDevice, { account: account.id, tokenHash: hashSecret(deviceToken) })) > 0;
