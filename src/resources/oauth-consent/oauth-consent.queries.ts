import { hashSecret } from '../../crypto/tokens.ts';
import { scopesIn } from '../../auth/scopes.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import type { ClientSource } from '../../entities/index.ts';

/** A browser's hold on a request: the id in its address, and the cookie of the browser it began in. */
export type Hold = { readonly id: string; readonly browserToken: string | undefined };

/** The values of `OPEN`, in its order. */
export const holdValues = ({ id, browserToken }: Hold): [Buffer, Buffer] => [
  hashSecret(id),
  hashSecret(browserToken ?? ''),
];

type RequestRow = {
  client_id: string;
  client_name: string;
  client_source: ClientSource;
  redirect_uri: string;
  scope: string;
  email: string;
};

const openRequest = query<RequestRow>(
  'open_authorization_request',
  `select c.id as client_id, c.name as client_name, c.source as client_source, a.email,
     r.payload->'params'->>'redirect_uri' as redirect_uri, r.payload->'params'->>'scope' as scope
   from authorization_request r
   join oauth_client c on c.id = r.payload->'params'->>'client_id'
   join account a on a.id = $3
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()`,
);

const teamsOfAccount = query<{ id: string; name: string; role_name: string }>(
  'teams_to_grant',
  `select t.id, t.name, r.name as role_name
   from membership m
   join team t on t.id = m.team_id
   join role r on r.id = m.role_id
   where m.account_id = $1 and m.is_active and (m.expires_at is null or m.expires_at > now())
   order by t.name, t.id`,
);

/** What a consent page shows; null where the request is over, or began in another browser. */
export async function readAuthorization(db: QueryRunner, hold: Hold, accountId: string) {
  const [[request], teams] = await Promise.all([
    db.query(openRequest, [...holdValues(hold), accountId]),
    db.query(teamsOfAccount, [accountId]),
  ]);
  if (request === undefined) return null;
  return {
    id: hold.id,
    client: {
      id: request.client_id,
      name: request.client_name,
      redirectHost: hostOf(request.redirect_uri),
      isVerified: request.client_source === 'operator',
    },
    account: { id: accountId, email: request.email },
    scopes: scopesIn(request.scope),
    teams: teams.map(({ id, name, role_name: roleName }) => ({ id, name, roleName })),
  };
}

/** Private-use schemes (RFC 8252, section 7.1) have no host; their reversed domain is the scheme itself. */
function hostOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host === '' ? protocol.slice(0, -1) : host;
}
