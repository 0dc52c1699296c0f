import type { Adapter } from 'oidc-provider';

/** One of the library's models as stored here; operations left out do nothing. */
export type Store = Partial<Pick<Adapter, 'upsert' | 'find' | 'consume' | 'destroy'>>;
