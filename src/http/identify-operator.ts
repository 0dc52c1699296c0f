import type { IncomingMessage } from 'node:http';
import { unauthenticated } from '../auth/authenticate.ts';
import { parseBearer } from '../auth/authorization-header.ts';
import { authenticateOperator, type FindOperatorKey } from '../auth/operator.ts';
import { currentCaller } from '../db/caller.ts';
import { toProblemError } from '../procedures/problem-details.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { OperatorLimit } from '../rate-limit/operator-limiters.ts';
import type { HttpServices } from './http-services.ts';
import type { Identified } from './identify.ts';

type RequestFacts = {
  /** The client's IP address, read when the request arrived. */
  readonly address: string;
  /** The number of calls in the request. */
  readonly cost: number;
  /** Which limit of the key the calls consume. */
  readonly limit: OperatorLimit;
  /** Finds the key together with what the operation reads. */
  readonly findKey?: FindOperatorKey | undefined;
};

/**
 * Resolves an operator key and consumes its rate limit, like `identify`. A request without a valid key consumes the
 * limit of the client's IP address.
 */
export async function identifyOperator(
  { services, limiter, operatorLimiters, usage }: HttpServices,
  req: IncomingMessage,
  { address, cost, limit, findKey }: RequestFacts,
): Promise<Identified> {
  const bearer = parseBearer(req.rawHeaders);
  const authentication = await authenticateOperator(services.db, services.tokens, bearer, address, findKey).catch(
    (error: unknown) => unauthenticated(toProblemError(error)),
  );
  const operator = 'operator' in authentication ? authentication.operator : undefined;
  if (operator === undefined) return { authentication, rate: await limiter.consume(addressBucket(address), cost) };
  const { credentialId } = operator;
  currentCaller()?.identify({ accountId: credentialId, credentialId });
  usage.note(operator, address);
  return { authentication, rate: await operatorLimiters[limit].consume(credentialId, cost) };
}
