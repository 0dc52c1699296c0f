import type { Principal } from '../../auth/principal.ts';
import { query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../errors.ts';
import { credentialValues, liveCaller } from '../../transactions/live-caller.ts';

const stateOfReader = query<{ is_live: boolean; is_operator: boolean }>(
  'state_of_feed_reader',
  `select ${liveCaller({ account: '$1', kind: '$2::text', credential: '$3', family: '$4::text' })} as is_live,
     exists (select from account where id = $1 and role = 'admin') as is_operator`,
);

/**
 * Checks a caller that has waited again.
 * @throws credential_invalid (401), route_not_found (404) for one who is no operator any longer
 */
export async function requireLiveReader(
  db: QueryRunner,
  principal: Principal,
  access: 'own' | 'operator' = 'own',
): Promise<void> {
  const [state] = await db.query(stateOfReader, [principal.accountId, ...credentialValues(principal)]);
  if (state?.is_live !== true) throw new ProblemError('credential_invalid');
  if (access === 'operator' && !state.is_operator) throw new ProblemError('route_not_found');
}
