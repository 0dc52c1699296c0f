import type { Services } from '../service/services.ts';
import type { BatchLists } from './lists.ts';
import { callerOf, findActiveMembership, type AccessToken, type Authentication } from '../auth/authenticate.ts';
import { ACTOR_KINDS_OF, type Actor } from '../events/actor.ts';
import type { FindOperatorKey } from '../auth/operator.ts';
import type { RateDecision } from '../rate-limit/limiter.ts';
import type { ActiveMembership, Principal } from '../auth/principal.ts';
import type { ProblemError } from '../problems/error.ts';
import type { ClientOrigin } from '../email/notices.ts';
import type { RequestIds } from '../events/request-ids.ts';
import type { OperatorReadLog } from '../events/operator-reads.ts';
import type { BrowserClient } from './browser-client.ts';

/** Counts uses of a credential that an operator verifies. */
export type CredentialUse = {
  /** Consumes a request of its rate limit. Never rejects. */
  charge(credentialId: string): Promise<RateDecision>;
  /** Updates its `lastUsedAt`, without a delay. */
  note(used: { readonly principal: Principal; readonly token: AccessToken | null }): void;
};

/** What an operation reads in the statement that finds the operator key, before it is known to be valid. */
export type Prefetch = {
  readonly findKey: FindOperatorKey;
  /** What was found; undefined if the key is not valid. */
  readonly found: () => unknown;
};

/** The context of one call, the same over REST and tRPC. */
export type Context = {
  readonly services: Services;
  readonly requestIds: RequestIds;
  /** The client's IP address, as far as proxies are trusted. */
  readonly address: string;
  /** Describes the client, for notices. */
  readonly origin: (() => ClientOrigin) | undefined;
  readonly authentication: Authentication;
  /** Null over REST. */
  readonly browserClient: BrowserClient | null;
  /** Whether lengths alone decide about names, as over `/api/v1` (section 8 of the contract). */
  readonly acceptsAnyName: boolean;
  /** The `Idempotency-Key` header as it was sent with a REST operation that takes one. */
  readonly idempotencyKey: string | undefined;
  /** What a call of an operator changes, in whose turn it waits (`inTurnOf`). */
  readonly turn?: string | undefined;
  /** What `prefetch` of the operation has returned; undefined if it was not called or cannot read the input. */
  readonly prefetch: Prefetch | undefined;
  readonly credentialUse: CredentialUse;
  /** Counts the reads of operator keys. */
  readonly operatorReads: Pick<OperatorReadLog, 'note'>;
  /** The body of an operation that declares an `upload`, over REST. */
  readonly upload: AsyncIterable<Buffer> | undefined;
  /** The error of the whole request, such as an exceeded rate limit; no procedure runs then. */
  readonly blocked: ProblemError | null;
  /** Shared by the calls of a batch; null if the request is one call. */
  readonly batch: BatchLists | null;
  /** Returns the caller's active membership of a team; null for all other teams. */
  findMembership(teamId: string): Promise<ActiveMembership | null>;
};

/** What an interface says of a call. What it leaves out is not part of it. */
type Call = Pick<Context, 'requestIds' | 'address' | 'authentication'> & {
  /** The team whose membership the authentication contains, so that it is not queried again. */
  readonly teamId?: string | null;
} & Partial<Omit<Context, 'services' | 'findMembership'>>;

const LEFT_OUT = {
  origin: undefined,
  browserClient: null,
  acceptsAnyName: false,
  idempotencyKey: undefined,
  prefetch: undefined,
  credentialUse: {
    charge: () => Promise.reject(new Error('This interface does not count the use of credentials.')),
    note: () => undefined,
  },
  operatorReads: { note: () => undefined },
  upload: undefined,
  blocked: null,
  batch: null,
} satisfies Partial<Context>;

export const createContext = (services: Services, { teamId = null, ...call }: Call): Context => ({
  ...LEFT_OUT,
  ...call,
  services,
  findMembership: async (id) =>
    id === teamId || call.authentication.principal === null
      ? call.authentication.membership
      : findActiveMembership(services.db, call.authentication.principal, id),
});

/**
 * Returns the actor of a call, for audit events.
 * @param isOperator whether only operators can call the procedure
 */
export function toActor({ services, authentication, address, requestIds, origin }: Context, isOperator = false): Actor {
  const caller = callerOf(authentication);
  const kind = caller === null ? 'anonymous' : ACTOR_KINDS_OF[caller.kind];
  return {
    actorKind: isOperator && kind === 'session' ? 'operator_session' : kind,
    actorId: authentication.principal?.accountId ?? null,
    credentialId: caller?.credentialId ?? null,
    clientId: authentication.principal?.clientId ?? null,
    address,
    ...requestIds,
    origin,
    audit: services.audit,
  };
}
