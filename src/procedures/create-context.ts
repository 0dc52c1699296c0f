import { callerOf, findActiveMembership, type Authentication } from '../auth/authenticate.ts';
import type { BatchLists } from '../db/batch-lists.ts';
import { ACTOR_KINDS_OF, type Actor } from '../events/actor.ts';
import type { ProblemError } from '../errors.ts';
import type { Services } from '../app-services.ts';
import type { Context, CredentialUse, Prefetch } from './context.ts';
import type { BrowserClient } from './browser-client.ts';

type Call = {
  readonly requestId: string;
  readonly address: string;
  readonly authentication: Authentication;
  /** The team whose membership the authentication contains, so that it is not queried again. */
  readonly teamId?: string | null;
  readonly browserClient?: BrowserClient;
  readonly idempotencyKey?: string | undefined;
  readonly prefetch?: Prefetch | undefined;
  /** Only for interfaces of operators. */
  readonly credentialUse?: CredentialUse;
  /** Only for interfaces that accept operator keys. */
  readonly operatorReads?: Context['operatorReads'];
  readonly upload?: AsyncIterable<Buffer> | undefined;
  readonly blocked?: ProblemError | null;
  readonly batch?: BatchLists | null;
};

const UNUSED: CredentialUse = {
  charge: () => Promise.reject(new Error('This interface does not count the use of credentials.')),
  note: () => undefined,
};

const UNREAD: Context['operatorReads'] = { note: () => undefined };

export const createContext = (
  services: Services,
  {
    requestId,
    address,
    authentication,
    teamId = null,
    browserClient,
    idempotencyKey,
    prefetch,
    credentialUse = UNUSED,
    operatorReads = UNREAD,
    upload,
    blocked = null,
    batch = null,
  }: Call,
): Context => ({
  services,
  requestId,
  address,
  authentication,
  browserClient: browserClient ?? null,
  idempotencyKey,
  prefetch,
  credentialUse,
  operatorReads,
  upload,
  blocked,
  batch,
  findMembership: async (id) =>
    id === teamId || authentication.principal === null
      ? authentication.membership
      : findActiveMembership(services.db, authentication.principal, id),
});

/**
 * Returns the actor of a call, for audit events.
 * @param isOperator whether only operators can call the procedure
 */
export function toActor({ services, authentication, address, requestId }: Context, isOperator = false): Actor {
  const caller = callerOf(authentication);
  const kind = caller === null ? 'anonymous' : ACTOR_KINDS_OF[caller.kind];
  return {
    actorKind: isOperator && kind === 'session' ? 'operator_session' : kind,
    actorId: authentication.principal?.accountId ?? null,
    credentialId: caller?.credentialId ?? null,
    clientId: authentication.principal?.clientId ?? null,
    address,
    requestId,
    audit: services.audit,
  };
}
