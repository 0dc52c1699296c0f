import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { ClientSource, ProductPermission, Scope } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';

type ClientRow = {
  id: string;
  name: string;
  redirect_uris: string[];
  is_native: boolean;
  is_confidential: boolean;
  created_at: string;
  secrets: { last4: string; created_at: string; expires_at: string | null }[];
};

const COLUMNS = `c.id, c.name, c.redirect_uris, c.is_native, c.is_confidential, c.created_at,
  coalesce(
    (select jsonb_agg(
        jsonb_build_object('last4', s.last4, 'created_at', s.created_at, 'expires_at', s.expires_at)
        order by s.expires_at desc nulls first
      )
     from oauth_client_secret s
     where s.client_id = c.id and (s.expires_at is null or s.expires_at > now())),
    '[]'
  ) as secrets`;

/** What only the operator sets. */
type OperatorRow = {
  is_first_party: boolean;
  is_development: boolean;
  scopes: Scope[] | null;
  home_url: string | null;
  initiate_login_uri: string | null;
  openid_scopes: string[] | null;
  post_logout_redirect_uris: string[];
  backchannel_logout_uri: string | null;
  session_days: number | null;
  has_token_limit: boolean;
  product_permissions: ProductPermission[];
};
const OPERATOR_COLUMNS = `c.is_first_party, c.is_development, c.scopes, c.home_url, c.initiate_login_uri, c.openid_scopes,
  c.post_logout_redirect_uris, c.backchannel_logout_uri, c.session_days, c.has_token_limit, c.product_permissions`;

/** Selects all clients of an account, or the one with the id `$2`. */
const findClients = query<ClientRow>(
  'oauth_client_list_of_account',
  `select ${COLUMNS} from oauth_client c
   where c.account_id = $1 and ($2::text is null or c.id = $2)
   order by c.created_at, c.id`,
);

const findAllClients = query<ClientRow & OperatorRow & { source: ClientSource; email: string | null }>(
  'oauth_client_list',
  `select ${COLUMNS}, ${OPERATOR_COLUMNS}, c.source, a.email
   from oauth_client c left join account a on a.id = c.account_id
   where c.deleted_at is null
   order by c.created_at, c.id`,
  { rows: 'many' },
);

/** Lists the OAuth clients of an account, oldest first. */
export const listClients = async (db: QueryRunner, accountId: string) =>
  (await db.query(findClients, [accountId, null])).map(presentRow);

/** Returns an OAuth client of an account. @throws client_not_found */
export async function getClient(db: QueryRunner, accountId: string, clientId: string) {
  const [row] = await db.query(findClients, [accountId, clientId]);
  if (row === undefined) throw new ProblemError('client_not_found');
  return presentRow(row);
}

/** Lists the OAuth clients of all accounts and of the operator, oldest first. */
export const listAllClients = async (db: QueryRunner) =>
  (await db.query(findAllClients, [])).map((row) => ({
    ...presentOperatorRow(row),
    source: row.source,
    email: row.email,
  }));

const OF_OPERATOR = `select ${COLUMNS}, ${OPERATOR_COLUMNS} from oauth_client c
   where c.source = 'operator' and c.deleted_at is null`;

const findOperatorClients = query<ClientRow & OperatorRow>(
  'oauth_client_list_of_operator',
  `${OF_OPERATOR} order by c.created_at, c.id`,
  { rows: 'many' },
);

const findOperatorClient = query<ClientRow & OperatorRow>(
  'oauth_client_find_of_operator',
  `${OF_OPERATOR} and c.id = $1`,
);

/** Lists the OAuth clients of the operator, oldest first. */
export const listOperatorClients = async (db: QueryRunner) =>
  (await db.query(findOperatorClients, [])).map(presentOperatorRow);

/** Returns an OAuth client of the operator. @throws client_not_found */
export async function getOperatorClient(db: QueryRunner, clientId: string) {
  const [row] = await db.query(findOperatorClient, [clientId]);
  if (row === undefined) throw new ProblemError('client_not_found');
  return presentOperatorRow(row);
}

const presentOperatorRow = (row: ClientRow & OperatorRow) => ({
  ...presentRow(row),
  isFirstParty: row.is_first_party,
  isDevelopment: row.is_development,
  scopes: row.scopes,
  homeUrl: row.home_url,
  initiateLoginUri: row.initiate_login_uri,
  openidScopes: row.openid_scopes,
  postLogoutRedirectUris: row.post_logout_redirect_uris,
  backchannelLogoutUri: row.backchannel_logout_uri,
  sessionDays: row.session_days,
  hasTokenLimit: !(row.is_first_party && row.is_confidential) || row.has_token_limit,
  permissions: row.product_permissions,
});

const presentRow = (row: ClientRow) => ({
  id: row.id,
  name: row.name,
  redirectUris: row.redirect_uris,
  isNative: row.is_native,
  isConfidential: row.is_confidential,
  createdAt: iso(row.created_at),
  secrets: row.secrets.map(({ last4, created_at, expires_at }) => ({
    last4,
    createdAt: iso(created_at),
    expiresAt: isoOrNull(expires_at),
  })),
});
