import type { Operator } from '../../auth/principal.ts';
import { invalidInput } from '../../problems/error.ts';

/**
 * Requires that a signed-in operator does not change their own account, which could leave the installation without
 * an operator.
 */
export function requireForeign(operator: Operator, accountId: string): void {
  if (operator.kind !== 'operator-key' && operator.accountId === accountId)
    throw invalidInput('/accountId', 'An operator cannot do this to their own account.');
}
