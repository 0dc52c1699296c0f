import type { Api } from '../support/api.ts';
import type { ALL_SCOPES } from './operations.ts';

export type CredentialOptions = {
  readonly scopes: readonly (typeof ALL_SCOPES)[number][];
  /** The one team it is for, in place of the whole account. */
  readonly team?: { readonly id: string };
  readonly expiresAt?: Date;
};

/** A kind of credential: two columns of the access matrix, one for the account and one for a team. */
export type Kind = {
  readonly name: 'key' | 'grant';
  readonly table: 'api_key' | 'oauth_grant';
  readonly make: (
    api: Api,
    account: { id: string },
    options: CredentialOptions,
  ) => Promise<{ id: string; secret: string }>;
};

export const KINDS: readonly Kind[] = [
  { name: 'key', table: 'api_key', make: (api, account, options) => api.anApiKey(account, options) },
  {
    name: 'grant',
    table: 'oauth_grant',
    make: async (api, account, options) => api.aGrant(account, { ...options, client: await clientOf(api) }),
  },
];

const clients = new WeakMap<Api, Promise<{ id: string }>>();

/** One client for all grants of a service: which one it is does not matter to a resource. */
function clientOf(api: Api): Promise<{ id: string }> {
  const client = clients.get(api) ?? api.anOAuthClient();
  clients.set(api, client);
  return client;
}

/** One more access token of a grant that has one, like it in all but the secret. */
export async function anotherToken(api: Api, grant: { id: string }): Promise<{ secret: string }> {
  const { secret, hash } = api.services.tokens.generate('accessToken');
  await api.rows(
    `insert into oauth_token (token_hash, kind, grant_id, scopes, payload, created_at, expires_at)
     select $1, kind, grant_id, scopes, payload, created_at, expires_at
     from oauth_token where grant_id = $2 and kind = 'access' limit 1`,
    [hash, grant.id],
  );
  return { secret };
}
