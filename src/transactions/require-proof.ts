import { isPrivileged, type Weight } from '../auth/permissions.ts';
import { requireRecentProof } from '../auth/recent-proof.ts';
import type { OperatorCaller } from './caller.ts';
import type { CallerCredential } from './live-caller.ts';
import type { Change } from './steps.ts';

/**
 * Requires a recent proof of the caller if the change turns out to widen access. For procedures that declare the effect
 * `widens if …`, under the locks of the change, so that what was compared stays as it is.
 * @throws proof_required (403)
 */
export async function requireProofIf(
  isWidening: boolean,
  within: Change,
  caller: CallerCredential | null,
): Promise<void> {
  if (isWidening && caller !== null) await requireRecentProof(within, caller);
}

/** Requires the same of an operator who is signed in. Operator keys and the command line have no proof. */
export async function requireProofOfOperatorIf(
  isWidening: boolean,
  within: Change,
  caller: OperatorCaller | 'system',
): Promise<void> {
  if (caller !== 'system' && caller.operator.kind !== 'operator-key')
    await requireProofIf(isWidening, within, caller.operator);
}

/** Requires a recent proof of who gives a role to somebody, if it is a privileged one. @throws proof_required (403) */
export const requireProofToGive = (role: Weight, within: Change, caller: CallerCredential | null): Promise<void> =>
  requireProofIf(isPrivileged(role), within, caller);
