import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientOrigin } from '../email/notices.ts';
import type { ActorKind } from '../entities/index.ts';
import type { Audit } from './event.ts';

/** The acting account, credential and IP address of a call. Every event of the call contains them. */
export type Actor = {
  readonly actorKind: ActorKind;
  /** The account that acts. */
  readonly actorId: string | null;
  readonly credentialId: string | null;
  /** The OAuth client that acts for the account. */
  readonly clientId?: string | null;
  readonly address: string | null;
  /** Null outside of requests. */
  readonly requestId: string | null;
  readonly clientRequestId: string | null;
  /** Describes the client, for notices. */
  readonly origin?: (() => ClientOrigin) | undefined;
  /** Logs events after their transaction has committed. */
  readonly audit: Audit;
};

const SERVICE: Actor = {
  actorKind: 'system',
  actorId: null,
  credentialId: null,
  address: null,
  requestId: null,
  clientRequestId: null,
  audit: () => undefined,
};

const actors = new AsyncLocalStorage<Actor>();

/**
 * Runs `act` with an actor that every event recorded by it contains. The actor is passed as async context, because
 * otherwise every function on the way to a record would need it as a parameter.
 */
export const runAs = <Result>(actor: Actor, act: () => Result): Result => actors.run(actor, act);

/** Returns the actor of the current call; outside of a call, the service itself. */
export const currentActor = (): Actor => actors.getStore() ?? SERVICE;

/** An actor as jobs keep it. Those of versions before have no `clientRequestId`. */
export type StoredActor = Omit<Actor, 'audit' | 'origin' | 'clientId' | 'clientRequestId'> &
  Partial<Pick<Actor, 'clientRequestId'>>;

/** Returns the actor of the current call for a job that does the rest of it. */
export function storedActor(): StoredActor {
  const { actorKind, actorId, credentialId, address, requestId, clientRequestId } = currentActor();
  return { actorKind, actorId, credentialId, address, requestId, clientRequestId };
}

/** Runs `act` with an actor that a job has kept. */
export const runAsStored = <Result>(stored: StoredActor, audit: Audit, act: () => Result): Result =>
  runAs({ ...stored, clientRequestId: stored.clientRequestId ?? null, audit }, act);

/** Maps kinds of credentials to the names in the audit log. */
export const ACTOR_KINDS_OF = {
  session: 'session',
  'api-key': 'api_key',
  'oauth-grant': 'oauth_grant',
  'operator-key': 'operator_key',
} as const;
