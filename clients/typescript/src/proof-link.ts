import type { TRPCLink } from '@trpc/client';
import type { AppRouter } from './generated/router.ts';
import { repeatLink } from './repeat-link.ts';

/**
 * Repeats a call of a session that needs a recent proof of who the user is (`proof_required`), once the user has given it.
 * Calls at the same time ask once.
 * @param ask asks, and returns whether the user did: with the password for `account.prove`, or with a passkey
 */
export const proofLink = (ask: () => Promise<boolean>): TRPCLink<AppRouter> =>
  repeatLink((error) => error.data?.problem.code === 'proof_required', ask);
