import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActorKind } from '../entities/index.ts';
import type { Audit } from './event.ts';

/** Who does something, with which credential and from where: what every event of a call says alike. */
export type Actor = {
  readonly actorKind: ActorKind;
  /** The account that acts. */
  readonly actorId: string | null;
  readonly credentialId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  /** Where events are told of once they are committed. */
  readonly audit: Audit;
};

const SERVICE: Actor = {
  actorKind: 'system',
  actorId: null,
  credentialId: null,
  address: null,
  requestId: null,
  audit: () => undefined,
};

const actors = new AsyncLocalStorage<Actor>();

/**
 * Does something on behalf of somebody: whatever is recorded meanwhile says so. It is the context of the
 * asynchronous calls and no argument, because every change would have to pass it on for the sake of its record.
 */
export const runAs = <Result>(actor: Actor, act: () => Result): Result => actors.run(actor, act);

/** On whose behalf things are done now; nobody's but the service's own outside of a call. */
export const currentActor = (): Actor => actors.getStore() ?? SERVICE;

/** Credentials by the names of the audit log. */
export const ACTOR_KINDS_OF = { session: 'session', 'api-key': 'api_key', 'oauth-grant': 'oauth_grant' } as const;
