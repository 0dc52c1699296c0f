import { hashSecret, type Tokens } from '../crypto/tokens.ts';
import { liveApiKey } from '../db/predicates.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { OperatorScope } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { unauthenticated, type Authentication } from './authenticate.ts';
import { splitList } from './credential-lookups.ts';
import type { OperatorPrincipal } from './principal.ts';
import { isInNetworks } from './networks.ts';

const findOperatorKey = query<{ key_id: string; scopes: string; addresses: string }>(
  'authenticate_operator_key',
  `select k.id as key_id, array_to_string(k.scopes, ' ') as scopes, array_to_string(k.addresses, ' ') as addresses
   from operator_key_secret s join operator_key k on k.id = s.operator_key_id
   where s.secret_hash = $1 and (s.expires_at is null or s.expires_at > now()) and ${liveApiKey('k')}`,
);

const liveOperatorKey = query<object>(
  'live_operator_key',
  `select from operator_key k where k.id = $1 and ${liveApiKey('k')}`,
);

/** Returns whether a key is still valid, for calls that take long. */
export const isLiveOperatorKey = async (db: QueryRunner, { credentialId }: OperatorPrincipal): Promise<boolean> =>
  (await db.query(liveOperatorKey, [credentialId])).length > 0;

/**
 * Resolves an operator key. For all procedures but those of the operator API the result is unauthenticated.
 * @param address the client's IP address, which the key can be limited to
 */
export async function authenticateOperator(
  db: QueryRunner,
  tokens: Tokens,
  bearer: string | undefined,
  address: string,
): Promise<Authentication> {
  if (bearer === undefined) return unauthenticated(new ProblemError('credential_missing'));
  const isKey = tokens.parseKind(bearer) === 'operatorKey';
  const [row] = isKey ? await db.query(findOperatorKey, [hashSecret(bearer)]) : [];
  if (row === undefined) return unauthenticated(new ProblemError('credential_invalid'));
  if (!isInNetworks(address, splitList(row.addresses)))
    return unauthenticated(new ProblemError('address_not_allowed', undefined, { credentialId: row.key_id }));
  const operator = {
    kind: 'operator-key' as const,
    credentialId: row.key_id,
    scopes: splitList<OperatorScope>(row.scopes),
  };
  return { ...unauthenticated(new ProblemError('credential_invalid')), operator };
}
