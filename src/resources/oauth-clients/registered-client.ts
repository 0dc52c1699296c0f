import { query, type QueryRunner } from '../../db/query.ts';
import type { ClientSource } from '../../entities/index.ts';
import { hashSecret } from '../../crypto/tokens.ts';

/** A registered client, with the properties that oidc-provider needs. */
export type RegisteredClient = {
  readonly id: string;
  readonly source: Exclude<ClientSource, 'document'>;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly isNative: boolean;
  readonly isConfidential: boolean;
  readonly isFirstParty: boolean;
  readonly isDevelopment: boolean;
  readonly openidScopes: readonly string[] | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** What decides the limits of a client that proved its secret. */
type ProvenClient = { readonly source: ClientSource; readonly hasTokenLimit: boolean };

// A client with a metadata document is read from the document; its row exists only for references by grants.
const findRegisteredClient = query<RegisteredClient>(
  'oauth_client_find',
  `select id, source, name, redirect_uris as "redirectUris", is_native as "isNative",
     is_confidential as "isConfidential", is_first_party as "isFirstParty",
     is_development as "isDevelopment", openid_scopes as "openidScopes", metadata
   from oauth_client where id = $1 and source <> 'document' and deleted_at is null`,
);

const findSecretClient = query<ProvenClient>(
  'oauth_client_secret_find_client',
  `select c.source, not c.is_first_party or c.has_token_limit as "hasTokenLimit"
   from oauth_client_secret s join oauth_client c on c.id = s.client_id
   where s.secret_hash = $1 and s.client_id = $2 and (s.expires_at is null or s.expires_at > now())`,
);

/** The format of generated client ids. Other text is rejected without a query; it could contain NUL. */
const CLIENT_ID = /^client_[0-9a-v]{26}$/;

/** Finds a client. @returns undefined for unknown ids and for clients with a metadata document */
export async function findClient(db: QueryRunner, clientId: string): Promise<RegisteredClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined;
  const [row] = await db.query(findRegisteredClient, [clientId]);
  return row;
}

/** Finds the client if the secret is valid. During a rotation two are. */
export async function findClientBySecret(
  db: QueryRunner,
  clientId: string,
  secret: string,
): Promise<ProvenClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined;
  const [row] = await db.query(findSecretClient, [hashSecret(secret), clientId]);
  return row;
}
