import { iso, isoOrNull, statement, type Read } from '../../db/query.ts';
import { change, recording } from '../../events/record.ts';

type PasskeyRow = { id: string; name: string; created_at: string; last_used_at: string | null };

const passkeysOfAccount = statement<PasskeyRow>(
  'passkeys_of_account',
  `select id, name, created_at, last_used_at from passkey where account_id = $1 order by created_at, id`,
);

const renamePasskeyRow = recording<PasskeyRow>(
  'rename_passkey',
  `update passkey set name = $3 where id = $1 and account_id = $2 returning id, name, created_at, last_used_at`,
  3,
);

// One statement, so that of any number of answers to one challenge a single one is looked at.
const consumeChallengeRow = statement<{ id: string }>(
  'consume_passkey_challenge',
  `delete from passkey_challenge
   where challenge = $1 and account_id is not distinct from $2 and expires_at > now()
   returning id`,
);

export async function listPasskeys(read: Read, accountId: string) {
  const rows = await read(passkeysOfAccount, [accountId]);
  return rows.map(presentRow);
}

/** Renames a passkey of the account. @returns null where the account has none of this id. */
export async function renamePasskey(read: Read, accountId: string, id: string, name: string) {
  const [row] = await change(
    read,
    renamePasskeyRow,
    [id, accountId, name],
    ['passkey.renamed', { accountId, passkeyId: id }],
  );
  return row === undefined ? null : presentRow(row);
}

/** Uses up a challenge. @returns whether it was one: asked of this account (null: a sign-in), not expired, not answered before. */
export async function consumeChallenge(read: Read, challenge: string, accountId: string | null): Promise<boolean> {
  const rows = await read(consumeChallengeRow, [challenge, accountId]);
  return rows.length > 0;
}

const presentRow = (row: PasskeyRow) => ({
  id: row.id,
  name: row.name,
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
});
