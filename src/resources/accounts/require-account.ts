import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { LockedAccount } from '../../transactions/lock-steps.ts';

/** @throws email_not_verified (403) for an account whose email address is not verified */
export function requireVerifiedEmail({ is_verified: isVerified }: LockedAccount): void {
  if (!isVerified) throw new ProblemError('email_not_verified');
}

/**
 * Requires an account that can get a team or membership from the operator. A disabled one keeps what it has.
 * @throws validation_failed (400)
 */
export function requireEnabled({ is_disabled: isDisabled }: Pick<LockedAccount, 'is_disabled'>, pointer: string): void {
  if (isDisabled) throw invalidInput(pointer, 'The account is disabled.');
}

/**
 * Requires an account that the operator can make the owner of a team.
 * @throws validation_failed (400), email_not_verified (403)
 */
export function requireNewOwner(account: LockedAccount, pointer: string): void {
  requireEnabled(account, pointer);
  if (!account.is_verified)
    throw new ProblemError('email_not_verified', 'The email address of the new owner is not verified.', {
      errors: [{ in: 'body', pointer, code: 'invalid_value' }],
    });
}
