import type { Adapter, AdapterFactory } from 'oidc-provider';
import type { Services } from '../service/services.ts';
import { createArtifactStore } from './artifacts.ts';
import { createClientStore } from './clients.ts';
import { createGrantStore } from './grants.ts';
import { createRequestStore } from './requests.ts';
import type { Store } from './store.ts';
import { createTokenStore } from './tokens.ts';

/** Creates the storage of oidc-provider's models: our tables, in which secrets are hashes and are consumed once. */
export function createAdapter(services: Services): AdapterFactory {
  const stores: Readonly<Record<string, Store>> = {
    Client: createClientStore(services),
    Grant: createGrantStore(services),
    AuthorizationCode: createTokenStore(services, 'code'),
    AccessToken: createTokenStore(services, 'access'),
    RefreshToken: createTokenStore(services, 'refresh'),
    Interaction: createRequestStore(services),
    // Users are signed in by our own sessions only.
    Session: {},
  };
  return (model) => ({ ...INERT, ...(stores[model] ?? createArtifactStore(services, model)) });
}

const INERT: Adapter = {
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  // Queries for codes and tokens check the row of their grant.
  revokeByGrantId: () => Promise.resolve(),
};
