import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { query, trpc } from './trpc.ts';

/** The account that is signed in; fails with a 401 where nobody is. */
export const me = () => query('getMe');

/** Where to go after signing in: a path of ours, whatever a link says. */
export const safePath = (path: string | undefined): string =>
  path !== undefined && /^\/(?![/\\])/.test(path) ? path : '/';

/** Forgets what was read as someone else, and keeps the page that is shown. */
export function useSessionReset() {
  const queries = useQueryClient();
  return () => queries.removeQueries({ type: 'inactive' });
}

/** Goes on as somebody else, or nobody: nothing of one person may be shown to the next. */
export function useSessionStart() {
  const queries = useQueryClient();
  const router = useRouter();
  return (next?: string) => {
    const path = safePath(next);
    if (path === router.state.location.href) {
      void queries.resetQueries(); // the page stays, and reads again what it shows
      return;
    }
    queries.clear();
    router.history.push(path);
  };
}

export function useSignOut(next = '/sign-in') {
  const start = useSessionStart();
  return useMutation({ mutationFn: () => trpc.auth.signOut.mutate(), onSuccess: () => start(next) });
}
