import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createElement, Fragment, type ReactNode } from 'react';
import type { AnyPermission } from '../permissions.ts';
import type { RosterSession, SessionUser } from '../server/sessions.ts';
import type { SessionTeam } from '../server/tokens.ts';
import { useAuthPath } from './context.ts';

/** Who is signed in to your application, as `createRosterAuth` of `@roster/client/server` tells its pages. */
export type BrowserSession = {
  readonly user: SessionUser;
  readonly team: SessionTeam | null;
} & Pick<RosterSession, 'provedAt' | 'isStale'>;

/** Opens in a small window what would lose the page's input in its own. */
const PROOF_WINDOW = 'popup,width=480,height=680';
/** As long as a request waits at Roster. */
const PROOF_MS = 15 * 60 * 1000;
/** How long the window that a proof closes can take to tell of it, after its user is back on the page. */
const RETURN_MS = 1000;
const PROOF_CHANNEL = 'roster-proof';

async function request(path: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(path, init);
  if (response.ok) return response.json();
  const { error = 'unknown_error' } = (await response.json().catch(() => ({}))) as { error?: string };
  throw Object.assign(new Error(`${path} answered ${response.status} ${error}`), {
    status: response.status,
    code: error,
  });
}

const sessionQuery = (path: string) =>
  queryOptions({
    queryKey: ['roster-session', path],
    queryFn: ({ signal }) => request(`${path}/session`, { signal }) as Promise<BrowserSession | null>, // what the kit answers
    staleTime: 60_000,
  });

/** The query of who is signed in. `data` is null if nobody is. */
export const useSession = () => useQuery(sessionQuery(useAuthPath()));

/**
 * The team in which the user works, and `enter` for another one by its id, slug or `ext:` id. Then everything that was
 * read is read again.
 */
export function useTeam() {
  const path = useAuthPath();
  const queryClient = useQueryClient();
  const { data } = useQuery(sessionQuery(path));
  const {
    mutateAsync: enter,
    isPending: isEntering,
    error,
  } = useMutation({
    mutationFn: (team: string) =>
      request(`${path}/team`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ team }),
      }),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  return { team: data?.team ?? null, enter, isEntering, error };
}

/**
 * Shows its children to users whose role in the team has a permission, of Roster or of your product. It hides, and protects
 * nothing: check the permission on your server too.
 */
export function Protect({
  permission,
  fallback = null,
  children,
}: {
  readonly permission: AnyPermission;
  readonly fallback?: ReactNode;
  readonly children?: ReactNode;
}) {
  const { data } = useSession();
  const isAllowed = data?.team?.permissions.includes(permission) === true;
  return createElement(Fragment, null, isAllowed ? children : fallback);
}

/**
 * Lets the user prove who they are in a window of its own, so that the page keeps what was entered. Use it as
 * `onProofRequired` of `createRosterTrpc`, which then repeats the call. Call it from a click: browsers block other windows.
 * @returns false if the window was blocked, the user came back to the page without a proof or another one signed in, and
 * after 15 minutes
 */
export function proveInWindow(path = '/auth'): Promise<boolean> {
  const channel = new BroadcastChannel(PROOF_CHANNEL);
  const over = new AbortController();
  // Pages of Roster cut the ties to the window, so only the channel tells when it is done.
  const opened = window.open(`${path}/prove`, '_blank', PROOF_WINDOW);
  return new Promise<boolean>((resolve) => {
    const giveUpAfter = (ms: number) => {
      const timer = setTimeout(() => resolve(false), ms);
      over.signal.addEventListener('abort', () => clearTimeout(timer));
    };
    giveUpAfter(opened === null ? 0 : PROOF_MS);
    // And nothing tells that its user has closed it.
    addEventListener('focus', () => giveUpAfter(RETURN_MS), { signal: over.signal });
    channel.addEventListener('message', ({ data }) => resolve(data === 'proved'));
  }).finally(() => {
    over.abort();
    channel.close();
  });
}
