import type { IncomingMessage } from 'node:http';
import { authenticate, authenticateSession, unauthenticated, type Authentication } from '../auth/authenticate.ts';
import { parseBearer, parseDpopToken } from '../auth/authorization-header.ts';
import { withDpopChallenge, requireProof, type Presented } from '../auth/dpop.ts';
import { currentCaller } from '../db/turns/request-caller.ts';
import type { Resource } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { Limiter, RateDecision } from '../rate-limit/limiter.ts';
import { CallerGoneError } from '../turns.ts';
import type { HttpServices } from './http-services.ts';

/** The caller and the state of their rate limit: the first two checks of every request that is counted. */
export type Identified = {
  readonly authentication: Authentication;
  readonly rate: RateDecision;
};

type RequestFacts = {
  /** The client's IP address, read when the request arrived, because a closed socket has none. */
  readonly address: string;
  /** The team in the request. The query of the credential also returns the caller's membership of it. */
  readonly teamId: string | null;
  /** The path of the request without its query; a DPoP proof has to name it. */
  readonly path: string;
  /** The number of calls in the request. */
  readonly cost: number;
  /** The resource that an access token has to be issued for. Default: the API. */
  readonly resource?: Resource;
  /** The token of the session cookie, if this request can use one. */
  readonly sessionToken?: string | undefined;
  /** The counter of paths with a limit of their own. Default: the rate limit of the API. */
  readonly counter?: RequestCounter;
};

export type RequestCounter = Pick<Limiter, 'consume'>;

/** Makes an error of a look-up that of the credential, unless nobody waits for it. */
export function refuse(error: unknown): ReturnType<typeof unauthenticated> {
  if (error instanceof CallerGoneError) throw error;
  return unauthenticated(toProblemError(error));
}

/** Consumes a rate limit. Nothing was changed until then, so a request whose client has gone ends here. */
export async function consumeFor(consumed: Promise<RateDecision>): Promise<RateDecision> {
  const rate = await consumed;
  currentCaller()?.requirePresence();
  return rate;
}

/**
 * Resolves the credential and consumes its rate limit. A request without a valid credential consumes the limit of
 * the client's IP address, so that a flood of invalid keys cannot create buckets.
 * @throws CallerGoneError
 */
export async function identify(
  http: HttpServices,
  req: IncomingMessage,
  { address, teamId, path, cost, resource, sessionToken, counter = http.limiter }: RequestFacts,
): Promise<Identified> {
  const { services, usage, attempts } = http;
  const { db } = services;
  currentCaller()?.beginIdentification();
  const bearer = parseBearer(req.rawHeaders);
  const proofs = bearer === '' ? attempts.proofs : null;
  const token = proofs === null ? bearer : parseDpopToken(req.rawHeaders);
  const resolved =
    bearer === undefined && sessionToken !== undefined
      ? authenticateSession(db, services.tokens, sessionToken, teamId)
      : authenticate(db, services.tokens, token, teamId, resource);
  const found = await resolved.catch(refuse);
  const authentication =
    proofs === null || !token
      ? requireBearer(found)
      : await requireProof(found, toPresented(req, token, services.config.baseUrl + path), proofs);

  const { principal } = authentication;
  if (principal === null) {
    return {
      authentication:
        bearer === undefined && attempts.proofs !== null
          ? withDpopChallenge(authentication, 'offered')
          : authentication,
      rate: await consumeFor(counter.consume(addressBucket(address), cost)),
    };
  }
  currentCaller()?.identify(principal);
  usage.note(principal, address);
  if (authentication.token?.isUnproven) usage.noteFirstUse(authentication.token.hash);
  return { authentication, rate: await consumeFor(counter.consume(principal.credentialId, cost)) };
}

const toPresented = (req: IncomingMessage, token: string, url: string): Presented => ({
  token,
  proofs: req.headersDistinct['dpop'] ?? [],
  method: req.method ?? '',
  url,
});

/** Rejects a token that is bound to a key if it was sent as a bearer token. */
const requireBearer = (authentication: Authentication): Authentication =>
  authentication.principal !== null && authentication.token?.thumbprint
    ? unauthenticated(new ProblemError('credential_invalid'))
    : authentication;

/** Returns the state of the client address's rate limit, for responses that consume nothing. */
export const peekAddress = ({ limiter }: HttpServices, address: string): Promise<RateDecision> =>
  limiter.peek(addressBucket(address));

/** Creates the 429 of an exceeded rate limit. */
export const createRateLimitError = ({ resetSeconds }: RateDecision): ProblemError =>
  new ProblemError('rate_limited', undefined, { retryAfter: resetSeconds });
