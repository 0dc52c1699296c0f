import { findActiveMembership, type Authentication } from '../access/authenticate.ts';
import type { Context, Services } from './context.ts';

/**
 * The context of one call.
 * @param teamId the team whose membership came with the authentication, so that it is not looked up twice
 */
export const callContext = (
  services: Services,
  requestId: string,
  authentication: Authentication,
  teamId: string | null,
): Context => ({
  services,
  requestId,
  authentication,
  membershipOf: async (id) =>
    id === teamId || authentication.principal === null
      ? authentication.membership
      : findActiveMembership(services.db.read, authentication.principal, id),
});
