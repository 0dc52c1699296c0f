import { hashSecret } from '../../crypto/tokens.ts';
import { isReadScope, parseScopes } from '../../auth/scopes.ts';
import { activeMembership } from '../../db/predicates.ts';
import { iso, query, type QueryRunner } from '../../db/query.ts';
import { GRANT_DAYS, type ClientSource } from '../../entities/index.ts';

/** The authority to answer a request: the id in the URL, and the cookie of the browser that started the request. */
export type Hold = { readonly id: string; readonly browserToken: string | undefined };

/** Returns the hashes of the request id and the browser token, the first two parameters of `findOpenRequest`. */
export const getHoldValues = ({ id, browserToken }: Hold): [Buffer, Buffer] => [
  hashSecret(id),
  hashSecret(browserToken ?? ''),
];

type RequestRow = {
  client_id: string;
  client_name: string;
  client_source: ClientSource;
  client_created_at: string;
  /** The name of the account that registered the client. */
  maker_name: string;
  redirect_uri: string;
  scope: string;
  is_scope_omitted: boolean;
  email: string;
};

const findOpenRequest = query<RequestRow>(
  'open_authorization_request',
  `select c.id as client_id, c.name as client_name, c.source as client_source, c.created_at as client_created_at,
     trim(concat_ws(' ', maker.first_name, maker.last_name)) as maker_name, a.email,
     r.payload->'params'->>'redirect_uri' as redirect_uri, r.payload->'params'->>'scope' as scope,
     r.payload->'params'->>'scope_omitted' is not null as is_scope_omitted
   from authorization_request r
   join oauth_client c on c.id = r.payload->'params'->>'client_id' and c.deleted_at is null
   left join account maker on maker.id = c.account_id
   join account a on a.id = $3
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()`,
);

const findTeams = query<{ id: string; name: string; role_name: string }>(
  'teams_to_grant',
  `select t.id, t.name, r.name as role_name
   from membership m
   join team t on t.id = m.team_id
   join role r on r.id = m.role_id
   where m.account_id = $1 and ${activeMembership('m')}
   order by t.name, t.id`,
);

/** Returns the content of a consent page. @returns null if the request has ended or was started in another browser */
export async function readAuthorization(db: QueryRunner, hold: Hold, accountId: string) {
  const [[request], teams] = await Promise.all([
    db.query(findOpenRequest, [...getHoldValues(hold), accountId]),
    db.query(findTeams, [accountId]),
  ]);
  if (request === undefined) return null;
  const scopes = parseScopes(request.scope);
  return {
    id: hold.id,
    client: {
      id: request.client_id,
      name: request.client_name,
      redirectHost: getRedirectHost(request.redirect_uri),
      isVerified: request.client_source === 'operator',
      source: request.client_source,
      madeBy: getMaker(request),
      createdAt: iso(request.client_created_at),
    },
    account: { id: accountId, email: request.email },
    scopes,
    // A client that names no scope gets no write access by default (RFC 6749, section 3.3).
    preselectedScopes: request.is_scope_omitted ? scopes.filter(isReadScope) : scopes,
    accessDays: GRANT_DAYS,
    teams: teams.map(({ id, name, role_name: roleName }) => ({ id, name, roleName })),
  };
}

/** Returns who made a client, as far as is known: the name that an account chose, or the host of a metadata document. */
const getMaker = ({ client_id: id, client_source: source, maker_name: name }: RequestRow): string | null =>
  source === 'document' ? new URL(id).host : name || null;

/** Returns the host of a redirect URI; for a private-use scheme (RFC 8252, section 7.1) the scheme. */
function getRedirectHost(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host === '' ? protocol.slice(0, -1) : host;
}
