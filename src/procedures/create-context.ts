import { findActiveMembership, type Authentication } from '../auth/authenticate.ts';
import { ACTOR_KINDS_OF, type Actor } from '../events/actor.ts';
import type { ProblemError } from '../errors.ts';
import type { Services } from '../app-services.ts';
import type { Context } from './context.ts';
import type { BrowserClient } from './browser-client.ts';

type Call = {
  readonly requestId: string;
  readonly address: string;
  readonly authentication: Authentication;
  /** The team whose membership came with the authentication, so that it is not looked up twice. */
  readonly teamId?: string | null;
  readonly browserClient?: BrowserClient;
  readonly blocked?: ProblemError | null;
};

/** The context of one call. */
export const createContext = (
  services: Services,
  { requestId, address, authentication, teamId = null, browserClient, blocked = null }: Call,
): Context => ({
  services,
  requestId,
  address,
  authentication,
  browserClient: browserClient ?? null,
  blocked,
  membershipOf: async (id) =>
    id === teamId || authentication.principal === null
      ? authentication.membership
      : findActiveMembership(services.db, authentication.principal, id),
});

/** Who calls and from where, for what is recorded of the call. */
export function toActor({ services, authentication: { principal }, address, requestId }: Context): Actor {
  return {
    actorKind: principal === null ? 'anonymous' : ACTOR_KINDS_OF[principal.kind],
    actorId: principal?.accountId ?? null,
    credentialId: principal?.credentialId ?? null,
    address,
    requestId,
    audit: services.audit,
  };
}
