import type { Operation, TRPCClientError, TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { AppRouter } from './generated/router.ts';

/**
 * Sends a call again, once, after the user has done what its error asks for, such as signing in.
 * Calls at the same time ask once.
 * @param isFor whether an error of a call asks for it
 * @param ask asks, and returns whether the user did; otherwise the call fails with its error
 */
export function repeatLink(
  isFor: (error: TRPCClientError<AppRouter>, operation: Operation) => boolean,
  ask: () => Promise<boolean>,
): TRPCLink<AppRouter> {
  let asked: Promise<boolean> | undefined;
  const askOnce = () => (asked ??= ask().finally(() => (asked = undefined)));
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        let isOver = false;
        const run = (onError: (error: TRPCClientError<AppRouter>) => void): Unsubscribable =>
          next(op).subscribe({ ...observer, error: onError });
        let running = run((error) => {
          if (!isFor(error, op)) return observer.error(error);
          askOnce().then(
            (isDone) => {
              if (!isDone) observer.error(error);
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
