import Provider from 'oidc-provider';
import { revokeGrants } from '../transactions/revocation.ts';
import { transaction } from '../transactions/transaction.ts';
import { query } from '../db/query.ts';
import type { Scope } from '../entities/index.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { resourceOf } from './resource.ts';

type GrantRow = { account_id: string; client_id: string; scopes: Scope[]; issued: number; expires: number };

const findGrant = query<GrantRow>(
  'find_oauth_grant',
  `select g.account_id, g.client_id, g.scopes, floor(extract(epoch from g.created_at))::int as issued,
     floor(extract(epoch from g.expires_at))::int as expires
   from oauth_grant g
   join account a on a.id = g.account_id
   where g.id = $1 and g.revoked_at is null and a.disabled_at is null`,
);

/** Grants are made by consent and narrowed by people; the engine reads them, and ends them. */
export function grantStore(services: Services): Store {
  const resource = resourceOf(services.config.baseUrl);

  return {
    async find(id) {
      const [row] = await services.db.query(findGrant, [id]);
      return (
        row && {
          kind: 'Grant',
          jti: id,
          accountId: row.account_id,
          clientId: row.client_id,
          iat: row.issued,
          exp: row.expires,
          resources: { [resource]: row.scopes.join(' ') },
        }
      );
    },
    destroy: (id) =>
      endGrant(services, id, Provider.ctx?.oidc.route === 'revocation' ? 'revoked by the client' : 'used twice'),
  };
}

/** Ends a grant with all that was made from it. */
export async function endGrant({ db }: Services, grantId: string, reason: string): Promise<void> {
  await transaction(db, (tx) => revokeGrants(tx, { id: grantId }, reason));
}
