import type { Services } from '../app-services.ts';
import type { BatchLists } from '../db/batch-lists.ts';
import type { AccessToken, Authentication } from '../auth/authenticate.ts';
import type { FindOperatorKey } from '../auth/operator.ts';
import type { RateDecision } from '../rate-limit/limiter.ts';
import type { ActiveMembership, Principal } from '../auth/principal.ts';
import type { ProblemError } from '../errors.ts';
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
  readonly requestId: string;
  /** The client's IP address, as far as proxies are trusted. */
  readonly address: string;
  readonly authentication: Authentication;
  /** Null over REST. */
  readonly browserClient: BrowserClient | null;
  /** The `Idempotency-Key` header as it was sent with a REST operation that takes one. */
  readonly idempotencyKey: string | undefined;
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
