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
  readonly metadata: Readonly<Record<string, unknown>>;
};

// A client with a metadata document is read from the document; its row exists only for references by grants.
const findRegisteredClient = query<RegisteredClient>(
  'registered_oauth_client',
  `select id, source, name, redirect_uris as "redirectUris", is_native as "isNative",
     is_confidential as "isConfidential", metadata
   from oauth_client where id = $1 and source <> 'document' and deleted_at is null`,
);

const findValidSecret = query<{ last4: string }>(
  'valid_oauth_client_secret',
  `select last4 from oauth_client_secret
   where secret_hash = $1 and client_id = $2 and (expires_at is null or expires_at > now())`,
);

/** The format of generated client ids. Other text is rejected without a query; it could contain NUL. */
const CLIENT_ID = /^client_[0-9a-v]{26}$/;

/** Finds a client. @returns undefined for unknown ids and for clients with a metadata document */
export async function findClient(db: QueryRunner, clientId: string): Promise<RegisteredClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined;
  const [row] = await db.query(findRegisteredClient, [clientId]);
  return row;
}

/** Returns whether a secret of the client is valid. During a rotation two are. */
export async function isSecretOfClient(db: QueryRunner, clientId: string, secret: string): Promise<boolean> {
  if (!CLIENT_ID.test(clientId)) return false;
  const rows = await db.query(findValidSecret, [hashSecret(secret), clientId]);
  return rows.length > 0;
}

const HIDDEN_OR_REORDERING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}]/u;

/** Returns whether a name is displayed as it is: it has visible characters, and none that reorder or break the text. */
export const isDisplayable = (name: string): boolean => !HIDDEN_OR_REORDERING.test(name) && VISIBLE.test(name);
