import Provider, { type ClientMetadata } from 'oidc-provider';
import { record, recordedCommand, runAndRecord } from '../events/record.ts';
import { findClient, type RegisteredClient } from '../resources/oauth-clients/registered-client.ts';
import { hashSecret } from '../crypto/tokens.ts';
import { OAuthClient, OAuthClientSecret } from '../entities/index.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { transaction } from '../transactions/transaction.ts';
import type { Payload } from './payload.ts';

/** Creates the store of registered clients. oidc-provider inserts those that register themselves (RFC 7591). */
export function createClientStore({ db }: Services): Store {
  return {
    async find(id) {
      const client = await findClient(db, id);
      return client && toMetadata(client);
    },
    async upsert(id, payload) {
      await transaction(db, async (tx) => {
        const { client_secret: secret, redirect_uris: redirectUris = [], ...rest } = payload as ClientMetadata; // the payload of the model Client
        tx.create(OAuthClient, {
          id,
          source: 'registration',
          name: getDisplayName(rest.client_name, redirectUris),
          redirectUris: [...redirectUris],
          isNative: rest.application_type === 'native',
          isConfidential: secret !== undefined,
          metadata: selectStoredMetadata(rest),
        });
        record(tx, 'oauth_client.created', { clientId: id, reason: 'registered itself' });
        await tx.flush();
        if (secret === undefined) return;
        tx.create(OAuthClientSecret, { secretHash: hashSecret(secret), client: id, last4: secret.slice(-4) });
        await tx.flush();
      });
    },
  };
}

/** Converts a client to its metadata (RFC 7591). A confidential client can send its secret by either method. */
function toMetadata({ id, name, redirectUris, isNative, isConfidential, metadata }: RegisteredClient): Payload {
  const sendsBasic = /^basic /i.test(Provider.ctx?.get('authorization') ?? '');
  return {
    ...metadata,
    client_id: id,
    client_name: name,
    redirect_uris: [...redirectUris],
    application_type: isNative ? 'native' : 'web',
    token_endpoint_auth_method: isConfidential ? (sendsBasic ? 'client_secret_basic' : 'client_secret_post') : 'none',
    // oidc-provider requires a secret. `compareClientSecret` compares the stored hashes instead.
    ...(isConfidential && { client_secret: '(hashed)' }),
  };
}

// Writes nothing if the document has not changed.
const saveDocument = recordedCommand<{ id: string }>(
  'save_client_document',
  `insert into oauth_client (id, source, name, redirect_uris, is_native, created_at)
   values ($1, 'document', $2, $3, $4, now())
   on conflict (id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
     is_native = excluded.is_native
   where oauth_client.source = 'document'
     and (oauth_client.name, oauth_client.redirect_uris, oauth_client.is_native)
       is distinct from (excluded.name, excluded.redirect_uris, excluded.is_native)
   returning id`,
  'oauth_client.updated',
);

/** Stores the displayed metadata of a client whose id is the URL of its metadata document. */
export async function saveClientDocument({ db }: Services, client: ClientMetadata): Promise<void> {
  const redirectUris = client.redirect_uris ?? [];
  const isNative = client.application_type === 'native';
  const values = [client.client_id, getDisplayName(client.client_name, redirectUris), redirectUris, isNative];
  const fields = { clientId: client.client_id, reason: 'its metadata document' };
  await runAndRecord(db, saveDocument, values, fields);
}

/** Returns the name of a client, or the host of its redirect URI if it has none. */
const getDisplayName = (name: string | undefined, [redirectUri = '']: readonly string[]): string =>
  name ?? (URL.parse(redirectUri)?.host || redirectUri.slice(0, 100));

/** Metadata that has its own column or that the server decides. */
const NOT_STORED: ReadonlySet<string> = new Set([
  'application_type',
  'client_id',
  'client_id_issued_at',
  'client_name',
  'client_secret_expires_at',
  'token_endpoint_auth_method',
]);

const selectStoredMetadata = (metadata: Partial<ClientMetadata>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([member]) => !NOT_STORED.has(member)));
