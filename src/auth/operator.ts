import { hashSecret, type Tokens } from '../crypto/tokens.ts';
import { liveApiKey, openSession } from '../db/predicates.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { OperatorScope } from '../entities/index.ts';
import { ProblemError } from '../problems/error.ts';
import { unauthenticated, type Authentication } from './authenticate.ts';
import { splitList } from './find-credential.ts';
import type { OperatorPrincipal } from './principal.ts';
import { isInNetworks } from './networks.ts';

export type OperatorKeyRow = {
  readonly operator_key_id: string;
  readonly operator_scopes: string;
  readonly operator_addresses: string;
};

/** The look-up of an operator key by its hash, also as a part of a statement. @param hash the parameter */
export const operatorKeyLookup = (hash: string): string =>
  `select ok.id as operator_key_id, array_to_string(ok.scopes, ' ') as operator_scopes,
     array_to_string(ok.addresses, ' ') as operator_addresses
   from operator_key_secret os join operator_key ok on ok.id = os.operator_key_id
   where os.secret_hash = ${hash} and (os.expires_at is null or os.expires_at > now()) and ${liveApiKey('ok')}`;

const operatorKeyByHash = query<OperatorKeyRow>('operator_key_authenticate', operatorKeyLookup('$1'));

/** Finds a valid operator key by its hash, and perhaps more in the same statement. */
export type FindOperatorKey = (db: QueryRunner, hash: Buffer) => Promise<OperatorKeyRow | undefined>;

const findOperatorKey: FindOperatorKey = async (db, hash) => (await db.query(operatorKeyByHash, [hash]))[0];

const liveOperatorKey = query<object>(
  'operator_key_find_live',
  `select from operator_key k where k.id = $1 and ${liveApiKey('k')}`,
);

/** Returns whether a key is still valid, for calls that take long. */
export const isLiveOperatorKey = async (db: QueryRunner, { credentialId }: OperatorPrincipal): Promise<boolean> =>
  (await db.query(liveOperatorKey, [credentialId])).length > 0;

const liveOperatorSession = query<object>(
  'session_find_live_of_operator',
  `select from session s join account a on a.id = s.account_id
   where s.id = $1 and ${openSession('s')} and a.role = 'admin' and a.disabled_at is null`,
);

/** Returns whether a session is still open, and its account still an operator, for calls that take long. */
export const isLiveOperatorSession = async (
  db: QueryRunner,
  { credentialId }: { readonly credentialId: string },
): Promise<boolean> => (await db.query(liveOperatorSession, [credentialId])).length > 0;

/**
 * Resolves an operator key. For all procedures but those of the operator API the result is unauthenticated.
 * @param address the client's IP address, which the key can be limited to
 */
export async function authenticateOperator(
  db: QueryRunner,
  tokens: Tokens,
  bearer: string | undefined,
  address: string,
  find: FindOperatorKey = findOperatorKey,
): Promise<Authentication> {
  if (bearer === undefined) return unauthenticated(new ProblemError('credential_missing'));
  const isKey = tokens.parseKind(bearer) === 'operatorKey';
  const row = isKey ? await find(db, hashSecret(bearer)) : undefined;
  if (row === undefined) return unauthenticated(new ProblemError('credential_invalid'));
  if (!isInNetworks(address, splitList(row.operator_addresses)))
    return unauthenticated(new ProblemError('address_not_allowed', undefined, { credentialId: row.operator_key_id }));
  const operator = {
    kind: 'operator-key' as const,
    credentialId: row.operator_key_id,
    scopes: splitList<OperatorScope>(row.operator_scopes),
  };
  return {
    principal: null,
    membership: null,
    // Created when it is thrown, because an error with its stack costs as much as a statement.
    get refusal() {
      return new ProblemError('credential_invalid');
    },
    operator,
  };
}
