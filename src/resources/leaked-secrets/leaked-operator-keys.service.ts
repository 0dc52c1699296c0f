import type { Database } from '../../db/database.ts';
import { raw } from '@mikro-orm/postgresql';
import { query } from '../../db/query.ts';
import { notifyOperators } from '../../jobs/notify.ts';
import { lockMany } from '../../transactions/locks.ts';
import { change } from '../../transactions/change.ts';
import { REASONS, type Leak } from './leak.ts';

const findOperatorKeys = query<{ hash: string; id: string }>(
  'operator_key_list_leaked',
  `select encode(secret_hash, 'hex') as hash, operator_key_id as id from operator_key_secret
   where secret_hash = any(array(select decode(hash, 'hex') from unnest(string_to_array($1, ' ')) hash))
     and (expires_at is null or expires_at > now())`,
);

/** Revokes leaked operator keys, and tells the operators of this instance. */
export async function revokeLeakedOperatorKeys(db: Database, leaks: readonly Leak[]): Promise<ReadonlySet<string>> {
  const found = await db.query(findOperatorKeys, [leaks.map(({ hash }) => hash.toString('hex')).join(' ')]);
  for (const { hash, id } of found) {
    const report = leaks.find((leak) => leak.hash.toString('hex') === hash);
    if (report === undefined) continue;
    await change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
      const [key] = await lockMany(tx, 'operator_key', { id, revokedAt: null });
      if (key === undefined) return;
      key.revokedAt = raw<Date>('now()');
      tx.record('operator_key.revoked', { keyId: id, reason: REASONS[report.leak] });
      const { name: keyName, keyPrefix, last4 } = key;
      const { leak, foundAt } = report;
      const shown = { keyId: id, keyName, keyPrefix, last4, teamName: null, leak, foundAt };
      await notifyOperators(tx, { kind: 'leaked_key_revoked', ...shown });
    });
  }
  return new Set(found.map(({ hash }) => hash));
}
