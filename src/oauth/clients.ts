import Provider, { type ClientMetadata } from 'oidc-provider';
import { recordedCommand, runAndRecord } from '../events/record.ts';
import { describeClientChange } from '../resources/oauth-clients/client-change.ts';
import { findClient, type RegisteredClient } from '../resources/oauth-clients/registered-client.ts';
import { allowsLoopback, isLoopbackUri } from '../resources/oauth-clients/redirect-uri.ts';
import type { Config } from '../config/config.ts';
import { hashSecret } from '../crypto/tokens.ts';
import { query } from '../db/query.ts';
import { OAuthClient, OAuthClientSecret } from '../entities/index.ts';
import type { Services } from '../service/services.ts';
import type { Store } from './store.ts';
import { change } from '../transactions/change.ts';
import type { Payload } from './payload.ts';

/** Creates the store of registered clients. oidc-provider inserts those that register themselves (RFC 7591). */
export function createClientStore({ db, config }: Services): Store {
  return {
    async find(id) {
      const client = await findClient(db, id);
      return client && toMetadata(client, config);
    },
    async upsert(id, payload) {
      await change(db, 'visitor', { on: 'installation', requires: 'nothing' }, ({ em, record }) => {
        const { client_secret: secret, redirect_uris: redirectUris = [], ...rest } = payload as ClientMetadata; // the payload of the model Client
        const client = em.create(OAuthClient, {
          id,
          source: 'registration',
          name: getDisplayName(rest.client_name, redirectUris),
          redirectUris: [...redirectUris],
          isNative: rest.application_type === 'native',
          isConfidential: secret !== undefined,
          openidScopes: typeof rest['openid_scopes'] === 'string' ? rest['openid_scopes'].split(' ') : null,
          metadata: selectStoredMetadata(rest),
        });
        record('oauth_client.created', { clientId: id, reason: 'registered itself' });
        if (secret !== undefined)
          em.create(OAuthClientSecret, { secretHash: hashSecret(secret), client, last4: secret.slice(-4) });
      });
    },
  };
}

/** Converts a client to its metadata (RFC 7591). A confidential client can send its secret by either method. */
function toMetadata(client: RegisteredClient, config: Config): Payload {
  const { id, name, redirectUris, isNative, isConfidential, isFirstParty, openidScopes, metadata } = client;
  const sendsBasic = /^basic /i.test(Provider.ctx?.get('authorization') ?? '');
  return {
    ...metadata,
    client_id: id,
    client_name: name,
    first_party: isFirstParty || undefined,
    openid_scopes: openidScopes?.join(' '),
    // Those of a development that has ended are none any more.
    redirect_uris: redirectUris.filter((uri) => isNative || allowsLoopback(config, client) || !isLoopbackUri(uri)),
    application_type: isNative ? 'native' : 'web',
    token_endpoint_auth_method: isConfidential ? (sendsBasic ? 'client_secret_basic' : 'client_secret_post') : 'none',
    // oidc-provider requires a secret. `compareClientSecret` compares the stored hashes instead.
    ...(isConfidential && { client_secret: '(hashed)' }),
  };
}

const findSaved = query<{ name: string; redirectUris: string[]; isNative: boolean }>(
  'oauth_client_find_document',
  `select name, redirect_uris as "redirectUris", is_native as "isNative" from oauth_client where id = $1`,
);

// Writes nothing if the document has not changed.
const saveDocument = recordedCommand<{ id: string }>(
  'oauth_client_upsert_document',
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
  const redirectUris = [...(client.redirect_uris ?? [])];
  const isNative = client.application_type === 'native';
  const name = getDisplayName(client.client_name, redirectUris);
  const [saved] = await db.query(findSaved, [client.client_id]);
  const changes = describeClientChange(saved ?? { name: '', redirectUris: [] }, { name, redirectUris });
  if (saved !== undefined && changes === null && saved.isNative === isNative) return;
  const fields = { clientId: client.client_id, reason: 'its metadata document', ...changes };
  await runAndRecord(db, saveDocument, [client.client_id, name, redirectUris, isNative], fields);
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
  'openid_scopes',
  'token_endpoint_auth_method',
]);

const selectStoredMetadata = (metadata: Partial<ClientMetadata>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([member]) => !NOT_STORED.has(member)));
