import { hashSecret } from '../../crypto/tokens.ts';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';

type PasskeyRow = { id: string; name: string; created_at: string; last_used_at: string | null };

const passkeysOfAccount = query<PasskeyRow>(
  'passkey_list_of_account',
  `select id, name, created_at, last_used_at from passkey where account_id = $1 order by created_at, id`,
);

type CredentialRow = {
  id: string;
  account_id: string;
  public_key: Buffer;
  counter: string;
  device_id: string | null;
};

const credentialById = query<CredentialRow>(
  'passkey_find',
  `select p.id, p.account_id, p.public_key, p.counter, d.id as device_id
   from passkey p left join known_device d on d.account_id = p.account_id and d.token_hash = $2
   where p.credential_id = $1`,
);

export async function listPasskeys(db: QueryRunner, accountId: string) {
  const rows = await db.query(passkeysOfAccount, [accountId]);
  return rows.map(presentRow);
}

/**
 * Finds the passkey that has a credential id, and its account's id of the browser.
 * @returns null if there is none; `deviceId` null if the account does not know the browser
 */
export async function findPasskey(db: QueryRunner, credentialId: string, deviceToken: string | undefined) {
  const deviceHash = deviceToken === undefined ? null : hashSecret(deviceToken);
  const [row] = await db.query(credentialById, [credentialId, deviceHash]);
  if (row === undefined) return null;
  const { id, account_id: accountId, public_key: publicKey, device_id: deviceId } = row;
  return { id, accountId, publicKey, counter: Number(row.counter), deviceId };
}

export type Credential = NonNullable<Awaited<ReturnType<typeof findPasskey>>>;

const presentRow = (row: PasskeyRow) => ({
  id: row.id,
  name: row.name,
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
});
