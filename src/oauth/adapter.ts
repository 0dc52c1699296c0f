import type { Adapter, AdapterFactory } from 'oidc-provider';
import type { Services } from '../app-services.ts';
import { artifactStore } from './artifacts.ts';
import { clientStore } from './clients.ts';
import { grantStore } from './grants.ts';
import { requestStore } from './requests.ts';
import type { Store } from './store.ts';
import { tokenStore } from './tokens.ts';

/** Where the engine keeps its models: in our tables, secrets as hashes, each consumed once. */
export function adapterOf(services: Services): AdapterFactory {
  const stores: Readonly<Record<string, Store>> = {
    Client: clientStore(services),
    Grant: grantStore(services),
    AuthorizationCode: tokenStore(services, 'code'),
    AccessToken: tokenStore(services, 'access'),
    RefreshToken: tokenStore(services, 'refresh'),
    Interaction: requestStore(services),
    // Our own sessions are the only ones.
    Session: {},
  };
  return (model) => ({ ...INERT, ...(stores[model] ?? artifactStore(services, model)) });
}

const INERT: Adapter = {
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  // Codes and tokens end with their grant, whose row says so.
  revokeByGrantId: () => Promise.resolve(),
};
