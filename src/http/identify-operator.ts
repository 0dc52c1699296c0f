import type { IncomingMessage } from 'node:http';
import { parseBearer } from '../auth/authorization-header.ts';
import { authenticateOperator, type FindOperatorKey } from '../auth/operator.ts';
import { currentCaller } from '../db/turns/request-caller.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { OperatorLimit } from '../rate-limit/operator-limiters.ts';
import type { HttpServices } from './http-services.ts';
import { consumeFor, refuse, type Identified, type RequestCounter } from './identify.ts';

type RequestFacts = {
  /** The client's IP address, read when the request arrived. */
  readonly address: string;
  /** The number of calls in the request. */
  readonly cost: number;
  /** Which limit of the key the calls consume. */
  readonly limit: OperatorLimit;
  /** Finds the key together with what the operation reads. */
  readonly findKey?: FindOperatorKey | undefined;
  /** Counts requests without a valid key by IP address. Default: the rate limit of the API. */
  readonly counter?: RequestCounter;
};

/**
 * Resolves an operator key and consumes its rate limit, like `identify`. A request without a valid key consumes the
 * limit of the client's IP address.
 */
export async function identifyOperator(
  { services, limiter, operatorLimiters, usage }: HttpServices,
  req: IncomingMessage,
  { address, cost, limit, findKey, counter = limiter }: RequestFacts,
): Promise<Identified> {
  currentCaller()?.beginIdentification();
  const bearer = parseBearer(req.rawHeaders);
  const authentication = await authenticateOperator(services.db, services.tokens, bearer, address, findKey).catch(
    refuse,
  );
  const operator = 'operator' in authentication ? authentication.operator : undefined;
  if (operator === undefined)
    return { authentication, rate: await consumeFor(counter.consume(addressBucket(address), cost)) };
  const { credentialId } = operator;
  currentCaller()?.identify({ accountId: credentialId, credentialId });
  usage.note(operator, address);
  return { authentication, rate: await consumeFor(operatorLimiters[limit].consume(credentialId, cost)) };
}
