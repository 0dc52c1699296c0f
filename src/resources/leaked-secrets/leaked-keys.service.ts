import type { Database } from '../../db/database.ts';
import { activeMembership } from '../../db/predicates.ts';
import { query } from '../../db/query.ts';
import { notify } from '../../jobs/notify.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import type { Change } from '../../transactions/steps.ts';
import { revokeApiKeys } from '../../transactions/revocation.ts';
import { change } from '../../transactions/change.ts';
import { REASONS, type Leak } from './leak.ts';

/** The members of a team that are told, its owner first. */
const MANAGERS_MAX = 50;

/** The keys that one transaction revokes. */
const KEYS_MAX = 20;

const findKeys = query<{ hash: string; id: string }>(
  'api_key_list_leaked',
  `select encode(secret_hash, 'hex') as hash, api_key_id as id from api_key_secret
   where secret_hash = any(array(select decode(hash, 'hex') from unnest(string_to_array($1, ' ')) hash)) and (expires_at is null or expires_at > now())`,
);

type LockedKey = {
  readonly id: string;
  readonly account_id: string;
  readonly team_id: string | null;
  readonly name: string;
  readonly key_prefix: string;
  readonly last4: string;
};

/**
 * Revokes the API keys of leaked secrets, also if the secret is one that a rotation replaces, because
 * its holder can have used the key. Tells its owner and, for a team key, the members who manage keys.
 */
export async function revokeLeakedKeys(db: Database, leaks: readonly Leak[]): Promise<ReadonlySet<string>> {
  const found = await db.query(findKeys, [leaks.map(({ hash }) => hash.toString('hex')).join(' ')]);
  if (found.length > 0) {
    const leaksByHash = new Map(leaks.map((leak) => [leak.hash.toString('hex'), leak]));
    const leaksByKey = found.map(({ hash, id }) => [id, leaksByHash.get(hash)] as const);
    for (let from = 0; from < leaksByKey.length; from += KEYS_MAX) {
      const some = new Map(leaksByKey.slice(from, from + KEYS_MAX));
      await change(db, 'system', { on: 'installation', requires: 'nothing' }, (tx) => revokeKeys(tx, some));
    }
  }
  return new Set(found.map(({ hash }) => hash));
}

const lockLeakedKeys = lockRows<LockedKey>(
  'api_key',
  'api_key_lock_leaked',
  `select id, account_id, team_id, name, key_prefix, last4 from api_key
   where id = any(string_to_array($1, ' ')) and revoked_at is null`,
);

async function revokeKeys(tx: Change, leaks: ReadonlyMap<string, Leak | undefined>): Promise<void> {
  const [keys] = await tx.run([[lockLeakedKeys, [[...leaks.keys()].join(' ')]]]);
  for (const key of keys) {
    const leak = leaks.get(key.id);
    if (leak === undefined) continue;
    await revokeApiKeys(tx, { id: key.id }, REASONS[leak.leak]);
    const { recipients, teamName } = await findRecipients(tx, key);
    const { id: keyId, name: keyName, key_prefix: keyPrefix, last4 } = key;
    const { leak: source, foundAt } = leak;
    for (const accountId of recipients)
      await notify(tx, accountId, {
        kind: 'leaked_key_revoked',
        keyId,
        keyName,
        keyPrefix,
        last4,
        teamName,
        leak: source,
        foundAt,
      });
  }
}

const managersOfKeys = query<{ account_id: string; team_name: string }>(
  'membership_list_managers_of_keys',
  `select m.account_id, t.name as team_name
   from membership m join role r on r.id = m.role_id join team t on t.id = m.team_id
   where m.team_id = $1 and ${activeMembership('m')} and 'manage_api_keys' = any(r.permissions)
   order by m.role_id = 'owner' desc, m.joined_at, m.id limit ${MANAGERS_MAX}`,
);

async function findRecipients(tx: Change, { account_id: owner, team_id: teamId }: LockedKey) {
  if (teamId === null) return { recipients: [owner], teamName: null };
  const [managers] = await tx.run([[managersOfKeys, [teamId]]]);
  return {
    recipients: new Set([owner, ...managers.map(({ account_id: id }) => id)]),
    teamName: managers[0]?.team_name ?? null,
  };
}
