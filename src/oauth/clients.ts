import Provider, { type ClientMetadata } from 'oidc-provider';
import { record, recordedCommand, runAndRecord } from '../events/record.ts';
import { findClient, type RegisteredClient } from '../resources/oauth-clients/registered-client.ts';
import { hashSecret } from '../crypto/tokens.ts';
import { OAuthClient, OAuthClientSecret } from '../entities/index.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { transaction } from '../transactions/transaction.ts';
import type { Payload } from './payload.ts';

/** Clients as somebody registered them here, and those that register themselves. */
export function clientStore({ db }: Services): Store {
  return {
    async find(id) {
      const client = await findClient(db, id);
      return client && metadataOf(client);
    },
    async upsert(id, payload) {
      await transaction(db, async (tx) => {
        const { client_secret: secret, redirect_uris: redirectUris = [], ...rest } = payload as ClientMetadata; // of the model Client
        tx.create(OAuthClient, {
          id,
          source: 'registration',
          name: nameOf(rest.client_name, redirectUris),
          redirectUris: [...redirectUris],
          isNative: rest.application_type === 'native',
          isConfidential: secret !== undefined,
          metadata: keptOf(rest),
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

/** In RFC 7591's words. A secret is asked for by either way of sending it, as clients differ. */
function metadataOf({ id, name, redirectUris, isNative, isConfidential, metadata }: RegisteredClient): Payload {
  const sendsBasic = /^basic /i.test(Provider.ctx?.get('authorization') ?? '');
  return {
    ...metadata,
    client_id: id,
    client_name: name,
    redirect_uris: [...redirectUris],
    application_type: isNative ? 'native' : 'web',
    token_endpoint_auth_method: isConfidential ? (sendsBasic ? 'client_secret_basic' : 'client_secret_post') : 'none',
    // The engine wants one; the hashes of those that are valid are compared instead.
    ...(isConfidential && { client_secret: '(hashed)' }),
  };
}

// Where it is as it was, nothing is written.
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

/** Keeps what people should read about a client that is named by the URL of its metadata. */
export async function saveClientDocument({ db }: Services, client: ClientMetadata): Promise<void> {
  const redirectUris = client.redirect_uris ?? [];
  const isNative = client.application_type === 'native';
  const values = [client.client_id, nameOf(client.client_name, redirectUris), redirectUris, isNative];
  const fields = { clientId: client.client_id, reason: 'its metadata document' };
  await runAndRecord(db, saveDocument, values, fields);
}

/** A client that gave itself no name goes by where it sends people. */
const nameOf = (name: string | undefined, [redirectUri = '']: readonly string[]): string =>
  name ?? (URL.parse(redirectUri)?.host || redirectUri.slice(0, 100));

/** What has columns of its own, or is decided here. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'application_type',
  'client_id',
  'client_id_issued_at',
  'client_name',
  'client_secret_expires_at',
  'token_endpoint_auth_method',
]);

const keptOf = (metadata: Partial<ClientMetadata>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([member]) => !NOT_KEPT.has(member)));
