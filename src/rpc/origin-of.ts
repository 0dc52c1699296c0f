import type { Origin } from '../access/origin.ts';
import type { Context } from './context.ts';

/** Credentials by the names of the audit log. */
export const ACTOR_KINDS_OF = { session: 'session', 'api-key': 'api_key', 'oauth-grant': 'oauth_grant' } as const;

/** Who calls and from where, for what is recorded of the call. */
export function originOf({ services, authentication: { principal }, address, requestId }: Context): Origin {
  return {
    actorKind: principal === null ? 'anonymous' : ACTOR_KINDS_OF[principal.kind],
    actorId: principal?.accountId ?? null,
    credentialId: principal?.credentialId ?? null,
    address,
    requestId,
    audit: services.audit,
  };
}
