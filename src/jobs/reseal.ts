import { QUEUE_JOBS } from '../db/queue-tables.ts';
import type { Encryption } from '../crypto/encryption.ts';

/** A connection or pool of `pg`. */
type Sql = {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<{ readonly rows: Row[] }>;
};

type Store = {
  /** Columns that identify a row, and the encrypted text. */
  readonly select: string;
  /** Replaces the text of row $1, if it is still $3, by $2. */
  readonly update: string;
};

/** Every column in the database that holds encrypted text. A test compares this list with the callers of `encrypt`. */
const STORES: Readonly<Record<string, Store>> = {
  'waiting emails': {
    select: `select id::text as key, payload->>'sealedToken' as encrypted from ${QUEUE_JOBS}
      where payload->>'sealedToken' is not null`,
    update: `update ${QUEUE_JOBS}
      set payload = jsonb_set(payload::jsonb, '{sealedToken}', to_jsonb($2::text))::json
      where id = $1::bigint and payload->>'sealedToken' = $3 returning 1`,
  },
  'requests for links': {
    select: `select id::text as key, payload->>'sealedEmail' as encrypted from ${QUEUE_JOBS}
      where payload->>'sealedEmail' is not null`,
    update: `update ${QUEUE_JOBS}
      set payload = jsonb_set(payload::jsonb, '{sealedEmail}', to_jsonb($2::text))::json
      where id = $1::bigint and payload->>'sealedEmail' = $3 returning 1`,
  },
  'authorization requests': {
    select: `select encode(id_hash, 'hex') as key, payload->>'parJti' as encrypted from authorization_request
      where payload->>'parJti' is not null`,
    update: `update authorization_request set payload = jsonb_set(payload::jsonb, '{parJti}', to_jsonb($2::text))
      where id_hash = decode($1, 'hex') and payload->>'parJti' = $3 returning 1`,
  },
  'ids of authorization requests': {
    select: `select encode(id_hash, 'hex') as key, sealed_id as encrypted from authorization_request
      where sealed_id is not null`,
    update: `update authorization_request set sealed_id = $2
      where id_hash = decode($1, 'hex') and sealed_id = $3 returning 1`,
  },
  'refresh answers': {
    select: `select encode(token_hash, 'hex') as key, answer as encrypted from oauth_refresh_answer`,
    update: `update oauth_refresh_answer set answer = $2
      where token_hash = decode($1, 'hex') and answer = $3 returning 1`,
  },
  'signing keys': {
    select: 'select id as key, private_key as encrypted from signing_key',
    update: 'update signing_key set private_key = $2 where id = $1 and private_key = $3 returning 1',
  },
  'webhook secrets': {
    select: 'select id as key, secret as encrypted from webhook_endpoint',
    update: 'update webhook_endpoint set secret = $2 where id = $1 and secret = $3 returning 1',
  },
  'previous webhook secrets': {
    select: 'select id as key, previous_secret as encrypted from webhook_endpoint where previous_secret is not null',
    update: 'update webhook_endpoint set previous_secret = $2 where id = $1 and previous_secret = $3 returning 1',
  },
};

const PAGE_ROWS = 500;

export type KeyUse = {
  /** The number of texts that each key of SECRET_KEYS encrypted, in the order of the keys. */
  readonly byKey: readonly number[];
  /** The number of texts that no key decrypts. */
  readonly lost: number;
};

/** Counts the texts that each key of SECRET_KEYS encrypted. */
export async function countKeyUse(sql: Sql, encryption: Encryption): Promise<KeyUse> {
  const byKey = encryption.keysFor('seal').map(() => 0);
  let lost = 0;
  for (const store of Object.values(STORES)) {
    for await (const { encrypted } of eachText(sql, store)) {
      const index = encryption.findKeyIndex(encrypted);
      if (index === -1) lost += 1;
      else byKey[index] = (byKey[index] ?? 0) + 1;
    }
  }
  return { byKey, lost };
}

/**
 * Re-encrypts texts of other keys with the first key of SECRET_KEYS. Skips texts that are changed or deleted
 * concurrently.
 * @returns the number of re-encrypted texts by store
 */
export async function reseal(sql: Sql, encryption: Encryption): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, store] of Object.entries(STORES)) {
    counts[name] = 0;
    for await (const { key, encrypted } of eachText(sql, store)) {
      if (encryption.findKeyIndex(encrypted) < 1) continue;
      const { rows } = await sql.query(store.update, [
        key,
        encryption.encrypt(encryption.decrypt(encrypted)),
        encrypted,
      ]);
      counts[name] += rows.length;
    }
  }
  return counts;
}

async function* eachText(sql: Sql, { select }: Store): AsyncGenerator<{ key: string; encrypted: string }> {
  const page = `select key, encrypted from (${select}) texts where key > $1 order by key limit ${PAGE_ROWS}`;
  for (let after: string | undefined = ''; after !== undefined;) {
    const { rows }: { rows: { key: string; encrypted: string }[] } = await sql.query(page, [after]);
    yield* rows;
    after = rows.at(-1)?.key;
  }
}
