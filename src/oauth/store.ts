import type { Adapter } from 'oidc-provider';

/** The storage of one oidc-provider model. Omitted operations do nothing. */
export type Store = Partial<Pick<Adapter, 'upsert' | 'find' | 'consume' | 'destroy'>>;
