import { findActiveMembership, type Authentication } from '../access/authenticate.ts';
import type { ProblemError } from '../errors.ts';
import type { Context, Services } from './context.ts';
import type { Visitor } from './visitor.ts';

type Call = {
  readonly requestId: string;
  readonly address: string;
  readonly authentication: Authentication;
  /** The team whose membership came with the authentication, so that it is not looked up twice. */
  readonly teamId?: string | null;
  readonly visitor?: Visitor;
  readonly blocked?: ProblemError | null;
};

/** The context of one call. */
export const callContext = (
  services: Services,
  { requestId, address, authentication, teamId = null, visitor, blocked = null }: Call,
): Context => ({
  services,
  requestId,
  address,
  authentication,
  visitor: visitor ?? null,
  blocked,
  membershipOf: async (id) =>
    id === teamId || authentication.principal === null
      ? authentication.membership
      : findActiveMembership(services.db.read, authentication.principal, id),
});
