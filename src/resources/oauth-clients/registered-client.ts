import { query, type QueryRunner } from '../../db/query.ts';
import type { ClientSource } from '../../entities/index.ts';
import { hashSecret } from '../../crypto/tokens.ts';

/** A client that somebody registered here, as the OAuth engine needs it. */
export type RegisteredClient = {
  readonly id: string;
  readonly source: Exclude<ClientSource, 'document'>;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly isNative: boolean;
  readonly isConfidential: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
};

// What a metadata document says is read anew from its address; its row is only what grants refer to.
const registeredClient = query<RegisteredClient>(
  'registered_oauth_client',
  `select id, source, name, redirect_uris as "redirectUris", is_native as "isNative",
     is_confidential as "isConfidential", metadata
   from oauth_client where id = $1 and source <> 'document'`,
);

const validSecret = query<{ last4: string }>(
  'valid_oauth_client_secret',
  `select last4 from oauth_client_secret
   where secret_hash = $1 and client_id = $2 and (expires_at is null or expires_at > now())`,
);

/** The ids that clients are given; nothing else is worth a query, or safe in one. */
const CLIENT_ID = /^client_[0-9a-v]{26}$/;

/** The client with this id. @returns undefined for none, and for one that a metadata document describes. */
export async function findClient(db: QueryRunner, clientId: string): Promise<RegisteredClient | undefined> {
  if (!CLIENT_ID.test(clientId)) return undefined;
  const [row] = await db.query(registeredClient, [clientId]);
  return row;
}

/** Whether the client may prove itself with this secret now: during a rotation two are valid. */
export async function isSecretOfClient(db: QueryRunner, clientId: string, secret: string): Promise<boolean> {
  if (!CLIENT_ID.test(clientId)) return false;
  const rows = await db.query(validSecret, [hashSecret(secret), clientId]);
  return rows.length > 0;
}

const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{White_Space}]/u;

/** Whether a consent page shows a client's name as it is: nothing that reorders or breaks the text, and something to see. */
export const isShowable = (name: string): boolean => !UNSHOWABLE.test(name) && VISIBLE.test(name);
