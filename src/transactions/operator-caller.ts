import { ProblemError } from '../problems/error.ts';
import type { OpenTransaction } from '../db/pipeline/open-transaction.ts';
import { query, type Step } from '../db/query.ts';
import type { Caller, OperatorCaller } from './caller.ts';
import { operatorGuards } from './live-caller.ts';
import { lockOperatorKeys, lockOperatorKeyShared, type LockedAccount } from './lock-steps.ts';
import type { Target } from './targets.ts';

const operatorKeyIsLive = query<{ is_live: boolean }>(
  'operator_key_check_live',
  `select exists (select from operator_key
     where id = $1 and revoked_at is null and (expires_at is null or expires_at > now())) as is_live`,
);

/** What is sent first, and what is required of its rows. */
type Guard = {
  readonly first: readonly Step[];
  readonly requireFirst: (rows: readonly unknown[][]) => void;
};

const NONE: Guard = { first: [], requireFirst: () => undefined };

const guarded = new WeakMap<OpenTransaction, string>();

/**
 * Guards a transaction against an operator who is none any more, once for all changes in it. Locks an operator key first, so
 * that a change that has begun ends before the revocation of its key is committed, and none begins afterwards. The account
 * of an operator who is signed in cannot be locked before the teams, so it is read with the commit, once the change has
 * waited for all of its locks.
 * @throws credential_invalid (401), route_not_found (404)
 */
export function guardOperator(open: OpenTransaction, caller: Caller, on: Target): Guard {
  if (typeof caller !== 'object' || !('operator' in caller)) return NONE;
  const { operator } = caller;
  if (operator.kind !== 'operator-key') {
    for (const guard of operatorGuards(operator)) open.requireAtCommit(guard);
    return NONE;
  }
  if (guarded.get(open) === operator.credentialId) return NONE;
  guarded.set(open, operator.credentialId);
  const id = operator.credentialId;
  const other = on !== 'installation' && 'operatorKey' in on ? on.operatorKey : null;
  return {
    first: [
      other === null ? [lockOperatorKeyShared, [id]] : [lockOperatorKeys, [id, other]],
      [operatorKeyIsLive, [id]],
    ],
    requireFirst([, states]) {
      const [state] = states as { is_live: boolean }[]; // as the statement declares
      if (state?.is_live !== true) throw new ProblemError('credential_invalid');
    },
  };
}

/**
 * Requires that a caller may change what an account is or how it signs in. An operator key changes no operator: it could
 * end the last one, or become one by a new email address.
 * @throws session_required (403)
 */
export function requireChangeable(caller: OperatorCaller | 'system', { is_operator: isOperator }: LockedAccount): void {
  const isKey = caller !== 'system' && caller.operator.kind === 'operator-key';
  if (isKey && isOperator)
    throw new ProblemError('session_required', 'An operator key cannot do this to the account of an operator.');
}
