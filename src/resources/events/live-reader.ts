import type { Principal } from '../../auth/principal.ts';
import type { QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import { operatorIsLiveStep } from '../../transactions/live-caller.ts';

/**
 * Checks a caller that has waited again.
 * @throws credential_invalid (401), route_not_found (404) for one who is no operator any longer
 */
export async function requireLiveReader(
  db: QueryRunner,
  principal: Principal,
  access: 'own' | 'operator' = 'own',
): Promise<void> {
  const [state] = await db.query(...operatorIsLiveStep(principal));
  if (state?.is_live !== true) throw new ProblemError('credential_invalid');
  if (access === 'operator' && !state.is_operator) throw new ProblemError('route_not_found');
}
