import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { forgetEntered } from './kept.ts';
import { query } from './trpc.ts';

/** The signed-in account, asked for once: calls of another account are rejected. @throws 401 if there is no session */
export const me = () => ({ ...query('getMe'), staleTime: Infinity });

/** Returns the path to open after the sign-in. Paths to other sites become `/`. */
export const safePath = (path: string | undefined): string =>
  path !== undefined && /^\/(?![/\\])/.test(path) ? path : '/';

/** Returns the id of an application’s request whose page is at a path. */
export const findAuthorizationId = (path: string | undefined): string | undefined =>
  /^\/oauth\/consent\/([\w-]+)/.exec(path ?? '')?.[1];

/** Returns the address with which an application knows the user whom it sent (`login_hint`), of the path that follows. */
export const findLoginHint = (path: string | undefined): string =>
  findAuthorizationId(path) === undefined ? '' : (new URLSearchParams(path?.split('?')[1]).get('login_hint') ?? '');

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
    forgetEntered();
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
