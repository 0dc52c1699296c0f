import type { Database } from '../../db/database.ts';
import { command, iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { recordedCommand, runAndRecord } from '../../events/record.ts';

type PasskeyRow = { id: string; name: string; created_at: string; last_used_at: string | null };

const passkeysOfAccount = query<PasskeyRow>(
  'passkeys_of_account',
  `select id, name, created_at, last_used_at from passkey where account_id = $1 order by created_at, id`,
);

const renamePasskeyRow = recordedCommand<PasskeyRow>(
  'rename_passkey',
  `update passkey set name = $3 where id = $1 and account_id = $2 returning id, name, created_at, last_used_at`,
  'passkey.renamed',
);

// One statement, so that only one of several concurrent answers to a challenge is verified.
const consumeChallengeRow = command<{ id: string }>(
  'consume_passkey_challenge',
  `delete from passkey_challenge
   where challenge = $1 and account_id is not distinct from $2 and expires_at > now()
   returning id`,
);

export async function listPasskeys(db: QueryRunner, accountId: string) {
  const rows = await db.query(passkeysOfAccount, [accountId]);
  return rows.map(presentRow);
}

/** Renames a passkey of the account. @returns null if the account has none with this id */
export async function renamePasskey(db: Database, accountId: string, id: string, name: string) {
  const [row] = await runAndRecord(db, renamePasskeyRow, [id, accountId, name], { accountId, passkeyId: id });
  return row === undefined ? null : presentRow(row);
}

/** Consumes a challenge. @returns whether it was valid for this account (null: a sign-in), unexpired and unused */
export async function consumeChallenge(db: Database, challenge: string, accountId: string | null): Promise<boolean> {
  const rows = await db.run(consumeChallengeRow, [challenge, accountId]);
  return rows.length > 0;
}

const presentRow = (row: PasskeyRow) => ({
  id: row.id,
  name: row.name,
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
});
