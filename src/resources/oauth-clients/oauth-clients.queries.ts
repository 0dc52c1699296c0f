import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import type { ClientSource } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

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

/** Selects all clients of an account, or the one with the id `$2`. */
const findClients = query<ClientRow>(
  'oauth_clients_of_account',
  `select ${COLUMNS} from oauth_client c
   where c.account_id = $1 and ($2::text is null or c.id = $2)
   order by c.created_at, c.id`,
);

const findAllClients = query<ClientRow & { source: ClientSource; email: string | null }>(
  'all_oauth_clients',
  `select ${COLUMNS}, c.source, a.email
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
  (await db.query(findAllClients, [])).map((row) => ({ ...presentRow(row), source: row.source, email: row.email }));

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
