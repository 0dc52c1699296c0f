import type { Database } from '../../db/database.ts';
import { query } from '../../db/query.ts';
import { notify } from '../../jobs/notify.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import { endTokenFamily } from '../oauth-grants/token-family.ts';
import { change } from '../../transactions/change.ts';
import { REASONS, type Leak } from './leak.ts';

// A consumed refresh token counts: if someone else used it first, its successors are theirs.
const findTokens = query<{
  hash: string;
  family_id: string | null;
  grant_id: string;
  account_id: string;
  client_name: string;
}>(
  'oauth_token_list_leaked',
  `select encode(t.token_hash, 'hex') as hash, t.family_id, g.id as grant_id, g.account_id, c.name as client_name
   from oauth_token t join oauth_grant g on g.id = t.grant_id join oauth_client c on c.id = g.client_id
   where t.token_hash = any(array(select decode(hash, 'hex') from unnest(string_to_array($1, ' ')) hash)) and t.kind in ('access', 'refresh') and t.expires_at > now()`,
);

/**
 * Revokes leaked access and refresh tokens with all tokens and API keys of the same consent, because the holder of
 * one can have got the others. Other devices of the person keep their access.
 */
export async function revokeLeakedTokens(db: Database, leaks: readonly Leak[]): Promise<ReadonlySet<string>> {
  const found = await db.query(findTokens, [leaks.map(({ hash }) => hash.toString('hex')).join(' ')]);
  for (const {
    hash,
    family_id: familyId,
    grant_id: grantId,
    account_id: accountId,
    client_name: clientName,
  } of found) {
    const leak = leaks.find((candidate) => candidate.hash.toString('hex') === hash);
    if (leak === undefined) continue;
    const { leak: source, foundAt } = leak;
    await change(db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
      const hasEnded =
        familyId === null
          ? (await revokeGrants(tx, { id: grantId }, REASONS[source])) > 0
          : await endTokenFamily(tx, familyId, REASONS[source]);
      if (!hasEnded) return;
      const notice = { kind: 'leaked_token_revoked', familyId: familyId ?? grantId, clientName } as const;
      await notify(tx, accountId, { ...notice, leak: source, foundAt });
    });
  }
  return new Set(found.map(({ hash }) => hash));
}
