import type { IncomingMessage } from 'node:http';
import { authenticate, refused, type Authentication } from '../access/authenticate.ts';
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

/**
 * Resolves the credential, then charges its bucket; a request without a valid credential is charged
 * to the client's address, so that a flood of invented keys opens no buckets of its own.
 * @param teamId the team the request names, whose membership the same statement resolves
 * @param cost how many calls the request carries
 */
export async function identify(
  transport: Transport,
  req: IncomingMessage,
  teamId: string | null,
  cost: number,
): Promise<Identified> {
  const { services, limiter, keyUsage } = transport;
  const authentication = await authenticate(services.db.read, services.secrets, bearerOf(req.rawHeaders), teamId).catch(
    (error: unknown) => refused(toProblemError(error)),
  );
  const { principal } = authentication;
  if (principal === null) {
    return { authentication, rate: await limiter.charge(addressBucket(transport.clientAddress(req)), cost) };
  }
  keyUsage.note(principal.credentialId);
  return { authentication, rate: await limiter.charge(principal.credentialId, cost) };
}

/** The bucket of the client's address as it stands, for answers that are not charged. */
export const peekAddress = ({ limiter, clientAddress }: Transport, req: IncomingMessage): Promise<RateDecision> =>
  limiter.peek(addressBucket(clientAddress(req)));

/** The 429 of a window that is used up. */
export const rateLimited = ({ resetSeconds }: RateDecision): ProblemError =>
  new ProblemError('rate_limited', undefined, { retryAfter: resetSeconds });
