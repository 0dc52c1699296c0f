import type { TRPCClientError, TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './generated/router.ts';

/**
 * Repeats a call of a session that needs a recent proof of who the user is (`proof_required`), once the user has given it.
 * Calls at the same time ask once.
 * @param ask asks, and returns whether the user did: with the password for `account.prove`, or with a passkey
 */
export function proofLink(ask: () => Promise<boolean>): TRPCLink<AppRouter> {
  let asked: Promise<boolean> | undefined;
  const askOnce = () => (asked ??= ask().finally(() => (asked = undefined)));
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        let isOver = false;
        const run = (onError: (error: TRPCClientError<AppRouter>) => void): Unsubscribable =>
          next(op).subscribe({ ...observer, error: onError });
        let running = run((error) => {
          if (error.data?.problem.code !== 'proof_required') return observer.error(error);
          askOnce().then(
            (isProven) => {
              if (!isProven) observer.error(error);
              else if (!isOver) running = run((again) => observer.error(again));
            },
            () => observer.error(error),
          );
        });
        return () => {
          isOver = true;
          running.unsubscribe();
        };
      });
}
