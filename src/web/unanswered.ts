import type { TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { AppRouter } from '#client/router';

/** Why there was no answer: nothing was sent, or a change or a read was sent. */
type Unanswered = 'not_sent' | 'change' | 'read';

// Whether the browser is online later says nothing about the call.
const noted = new WeakMap<object, Unanswered>();

/** Call when a request is sent. @returns a function that notes of its error whether the service can have done it */
export function watchRequest(isChange: boolean): (error: object) => void {
  const state = !navigator.onLine ? 'not_sent' : isChange ? 'change' : 'read';
  return (error) => void noted.set(error, state);
}

/** Returns what is known of a request that failed without an answer. */
export const findUnanswered = (error: unknown): Unanswered | undefined =>
  typeof error === 'object' && error !== null ? noted.get(error) : undefined;

/** Watches each call. */
export const watchCalls: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      const onError = watchRequest(op.type === 'mutation' && op.context['isRead'] !== true);
      return next(op).subscribe({
        ...observer,
        error: (error) => {
          onError(error);
          observer.error(error);
        },
      });
    });
