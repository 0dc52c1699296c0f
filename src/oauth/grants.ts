import Provider from 'oidc-provider';
import { endTokenFamily } from '../resources/oauth-grants/token-family.ts';
import { change } from '../transactions/change.ts';
import { resourceUri } from '../auth/resource.ts';
import { liveFamily } from '../db/predicates.ts';
import { query } from '../db/query.ts';
import { GRANT_DAYS, type Resource, type Scope } from '../entities/index.ts';
import type { Services } from '../service/services.ts';
import { SIGN_IN_SCOPE } from './openid-parameters.ts';
import { secondsUntil, toExp } from './payload.ts';
import type { Store } from './store.ts';

type FamilyRow = {
  account_id: string;
  client_id: string;
  resource: Resource;
  scopes: Scope[];
  is_for_sign_in: boolean;
  issued: number;
  seconds_left: number;
};

const findFamily = query<FamilyRow>(
  'oauth_token_family_find',
  `select f.account_id, f.client_id, f.resource, coalesce(g.scopes, f.scopes) as scopes,
     f.openid_scopes is not null and f.session_id is null as is_for_sign_in,
     floor(extract(epoch from f.created_at))::int as issued,
     ${secondsUntil(`coalesce(g.expires_at, f.created_at + interval '${GRANT_DAYS} days')`)} as seconds_left
   from oauth_token_family f
   join account a on a.id = f.account_id
   left join oauth_grant g on g.id = f.grant_id
   where f.id = $1 and g.revoked_at is null and a.disabled_at is null and ${liveFamily('f', 'f')}`,
);

/** Creates the store of oidc-provider's grants, which are our token families: revoking one does not affect other devices. */
export function createGrantStore({ config, db }: Services): Store {
  return {
    async find(id) {
      const [row] = await db.query(findFamily, [id]);
      return (
        row && {
          kind: 'Grant',
          jti: id,
          accountId: row.account_id,
          clientId: row.client_id,
          iat: row.issued,
          exp: toExp(row.seconds_left),
          ...(row.is_for_sign_in && { openid: { scope: SIGN_IN_SCOPE } }),
          resources: { [resourceUri(config.baseUrl, row.resource)]: row.scopes.join(' ') },
        }
      );
    },
    async destroy(id) {
      const reason = Provider.ctx?.oidc.route === 'revocation' ? 'revoked by the client' : 'used twice';
      await change(db, 'system', { on: 'installation', requires: 'nothing' }, (tx) => endTokenFamily(tx, id, reason));
    },
  };
}
