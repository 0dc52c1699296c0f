import type { IncomingMessage } from 'node:http';
import { authenticate, authenticateSession, refused, type Authentication } from '../access/authenticate.ts';
import { bearerOf } from '../access/bearer.ts';
import { ProblemError } from '../errors.ts';
import { toProblemError } from '../rpc/problem.ts';
import { addressBucket, type RateDecision } from './limiter.ts';
import type { Transport } from './transport.ts';

/** Who called and what is left of their window: the first two checks of every charged request. */
export type Identified = {
  readonly authentication: Authentication;
  readonly rate: RateDecision;
};

type Question = {
  /** The team the request names, whose membership the same statement resolves. */
  readonly teamId: string | null;
  /** How many calls the request carries. */
  readonly cost: number;
  /** The session cookie's token, where one is believed at all. */
  readonly sessionToken?: string | undefined;
};

/**
 * Resolves the credential, then charges its bucket; a request without a valid credential is charged
 * to the client's address, so that a flood of invented keys opens no buckets of its own.
 */
export async function identify(
  transport: Transport,
  req: IncomingMessage,
  { teamId, cost, sessionToken }: Question,
): Promise<Identified> {
  const { services, limiter, usage } = transport;
  const { read } = services.db;
  const bearer = bearerOf(req.rawHeaders);
  const resolved =
    bearer === undefined && sessionToken !== undefined
      ? authenticateSession(read, services.secrets, sessionToken, teamId)
      : authenticate(read, services.secrets, bearer, teamId);
  const authentication = requireBearer(await resolved.catch((error: unknown) => refused(toProblemError(error))));

  const { principal } = authentication;
  if (principal === null) {
    return { authentication, rate: await limiter.charge(addressBucket(transport.clientAddress(req)), cost) };
  }
  usage.note(principal);
  if (authentication.token?.isUnproven) usage.noteFirstUse(authentication.token.hash);
  return { authentication, rate: await limiter.charge(principal.credentialId, cost) };
}

/** A token that is bound to a key is worth nothing without a proof of that key. */
const requireBearer = (authentication: Authentication): Authentication =>
  authentication.principal !== null && authentication.token?.thumbprint
    ? refused(new ProblemError('credential_invalid'))
    : authentication;

/** The bucket of the client's address as it stands, for answers that are not charged. */
export const peekAddress = ({ limiter, clientAddress }: Transport, req: IncomingMessage): Promise<RateDecision> =>
  limiter.peek(addressBucket(clientAddress(req)));

/** The 429 of a window that is used up. */
export const rateLimited = ({ resetSeconds }: RateDecision): ProblemError =>
  new ProblemError('rate_limited', undefined, { retryAfter: resetSeconds });
