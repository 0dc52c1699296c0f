import type { IncomingMessage } from 'node:http';
import { authenticate, authenticateSession, unauthenticated, type Authentication } from '../auth/authenticate.ts';
import { parseBearer, parseDpopToken } from '../auth/authorization-header.ts';
import { withDpopChallenge, requireProof, type Presented } from '../auth/dpop.ts';
import { ProblemError } from '../errors.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { type RateDecision } from '../rate-limit/limiter.ts';
import type { HttpServices } from './http-services.ts';

/** Who called and what is left of their window: the first two checks of every charged request. */
export type Identified = {
  readonly authentication: Authentication;
  readonly rate: RateDecision;
};

type Question = {
  /** The client's, taken when the request arrived: a closed socket has none. */
  readonly address: string;
  /** The team the request names, whose membership the same statement resolves. */
  readonly teamId: string | null;
  /** Where the request was sent, without its query, for a proof to name. */
  readonly path: string;
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
  http: HttpServices,
  req: IncomingMessage,
  { address, teamId, path, cost, sessionToken }: Question,
): Promise<Identified> {
  const { services, limiter, usage, attempts } = http;
  const { db } = services;
  const bearer = parseBearer(req.rawHeaders);
  const proofs = bearer === '' ? attempts.proofs : null;
  const token = proofs === null ? bearer : parseDpopToken(req.rawHeaders);
  const resolved =
    bearer === undefined && sessionToken !== undefined
      ? authenticateSession(db, services.tokens, sessionToken, teamId)
      : authenticate(db, services.tokens, token, teamId);
  const found = await resolved.catch((error: unknown) => unauthenticated(toProblemError(error)));
  const authentication =
    proofs === null || !token
      ? requireBearer(found)
      : await requireProof(found, presentedBy(req, token, services.config.baseUrl + path), proofs);

  const { principal } = authentication;
  if (principal === null) {
    return {
      authentication:
        bearer === undefined && attempts.proofs !== null
          ? withDpopChallenge(authentication, 'offered')
          : authentication,
      rate: await limiter.consume(addressBucket(address), cost),
    };
  }
  usage.note(principal);
  if (authentication.token?.isUnproven) usage.noteFirstUse(authentication.token.hash);
  return { authentication, rate: await limiter.consume(principal.credentialId, cost) };
}

const presentedBy = (req: IncomingMessage, token: string, url: string): Presented => ({
  token,
  proofs: req.headersDistinct['dpop'] ?? [],
  method: req.method ?? '',
  url,
});

/** A token that is bound to a key is worth nothing without a proof of that key. */
const requireBearer = (authentication: Authentication): Authentication =>
  authentication.principal !== null && authentication.token?.thumbprint
    ? unauthenticated(new ProblemError('credential_invalid'))
    : authentication;

/** The bucket of the client's address as it stands, for answers that are not charged. */
export const peekAddress = ({ limiter }: HttpServices, address: string): Promise<RateDecision> =>
  limiter.peek(addressBucket(address));

/** The 429 of a window that is used up. */
export const createRateLimitError = ({ resetSeconds }: RateDecision): ProblemError =>
  new ProblemError('rate_limited', undefined, { retryAfter: resetSeconds });
