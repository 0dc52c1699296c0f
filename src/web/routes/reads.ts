import type { QueryClient } from '@tanstack/react-query';
import { query, type Outputs } from '../trpc.ts';

type Permission = Outputs['teams']['permissions'][number];

/** What `query` returns, of any procedure. */
// eslint-disable-next-line typescript/no-explicit-any -- as the types of TanStack Query have it
type Read = ReturnType<typeof query<any>>;

type Opening<Context> = {
  readonly context: Context & { readonly queries: QueryClient };
  readonly cause: 'enter' | 'preload' | 'stay';
  readonly location: { readonly searchStr: string };
};

/**
 * Returns a loader that starts reading what a page shows while its script loads. It waits for nothing: the page has the
 * same queries, and shows their errors.
 */
export const reads =
  <Context = unknown>(
    list: (context: Context & { readonly queries: QueryClient }, hasSearch: boolean) => readonly Read[],
  ) =>
  ({ context, cause, location }: Opening<Context>): void => {
    // A page that a pointer is over may never be opened, and a change of its search is handled by the page.
    if (cause !== 'enter') return;
    for (const one of list(context, location.searchStr !== '')) void context.queries.prefetchQuery(one);
  };

/** As `reads`, for pages of a team: what the permissions of the user allow, as the pages do. */
export const teamReads = (
  list: (teamId: string, can: (permission: Permission) => boolean, hasSearch: boolean) => readonly Read[],
) =>
  reads<{ readonly teamId: string }>(({ queries, teamId }, hasSearch) => {
    const permissions = queries.getQueryData(query('teams.permissions', { teamId }).queryKey) ?? [];
    return list(teamId, (permission) => permissions.includes(permission), hasSearch);
  });
