import { createAuthenticate, type Authenticate } from './authenticate.ts';
import { ROUTES, type Roster } from './generated/operations.ts';
import { ROUTES as OPERATOR_ROUTES, type RosterOperator } from './generated/operator.ts';
import { createMethods, type Bearer, type ConnectionOptions } from './methods.ts';
import { toUpload } from './upload.ts';

export type { CallOptions } from './methods.ts';

export type RosterOptions = ConnectionOptions & {
  /** An API key or access token, or a function that returns the present one before each request. */
  readonly credential: Bearer;
};

export type OperatorOptions = ConnectionOptions & {
  /** An operator key, or a function that returns the present one before each request. */
  readonly operatorKey: Bearer;
};

/**
 * Creates a client of the REST API, with a method for each operation.
 * Methods reject with a `RosterError` for an error response, and with the error of `fetch` if there was none.
 */
export const createRoster = ({ credential, ...options }: RosterOptions): Roster =>
  createMethods('/api/v1', ROUTES, options, credential) as Roster; // a method for each member of the generated interface

/**
 * Creates a client of the operator API, like `createRoster`, with `authenticate` for the requests to your own API. Only
 * for backends: an operator key has access to all teams.
 */
export function createOperator({ operatorKey, ...options }: OperatorOptions): RosterOperator & Authenticate {
  const operator = createMethods(
    '/operator/v1',
    OPERATOR_ROUTES,
    { ...options, toUpload },
    operatorKey,
  ) as RosterOperator; // as above
  return Object.freeze({
    ...operator,
    authenticate: createAuthenticate((input, call) => operator.verifyCredential(input, call)),
  });
}
