import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { query, trpc } from './trpc.ts';
import { useSubmission } from './components/submission.ts';

/** The signed-in account, asked for once: calls of another account are rejected. @throws 401 if there is no session */
export const me = () => ({ ...query('getMe'), staleTime: Infinity });

/** Returns the path to open after the sign-in. Paths to other sites become `/`. */
export const safePath = (path: string | undefined): string =>
  path !== undefined && /^\/(?![/\\])/.test(path) ? path : '/';

/** Removes data that was read as another user, except that of the current page. */
export function useSessionReset() {
  const queries = useQueryClient();
  return () => queries.removeQueries({ type: 'inactive' });
}

/** Opens a page after the user changed, and drops all data of the previous user. */
export function useSessionStart() {
  const queries = useQueryClient();
  const router = useRouter();
  return (next?: string) => {
    const path = safePath(next);
    if (path === router.state.location.href) {
      void queries.resetQueries(); // the page stays and reloads its data
      return;
    }
    queries.clear();
    // The page before is a form that is done: going back must not lead to it.
    router.history.replace(path);
  };
}

export function useSignOut(next = '/sign-in') {
  const start = useSessionStart();
  return useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.signOut.mutate(),
    onSuccess: () => start(next),
  });
}
