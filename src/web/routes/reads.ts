import type { QueryClient } from '@tanstack/react-query';
import { maySee, type PageAccess, type Viewer } from '../page-access.ts';
import { me } from '../session.ts';
import { query, type Permission } from '../trpc.ts';

/** What `query` returns, of any procedure. */
// eslint-disable-next-line typescript/no-explicit-any -- as the types of TanStack Query have it
type Read = ReturnType<typeof query<any>>;

type Opening<Context> = {
  readonly context: Context & { readonly queries: QueryClient };
  readonly cause: 'enter' | 'preload' | 'stay';
  readonly location: { readonly searchStr: string };
  readonly route: { readonly options: { readonly staticData?: { readonly access: PageAccess } } };
};

type List<Context> = (context: Context & { readonly queries: QueryClient }, hasSearch: boolean) => readonly Read[];

/** Starts to read what a page shows, of a user who may see it. */
function startReading<Context>(
  { context, cause, location, route }: Opening<Context>,
  permissions: Viewer['permissions'],
  list: List<Context>,
): void {
  // A page that a pointer is over may never be opened, and a change of its search is handled by the page.
  if (cause !== 'enter') return;
  const access = route.options.staticData?.access;
  const viewer = { person: context.queries.getQueryData(me().queryKey), permissions };
  if (access === undefined || !maySee(access, viewer)) return;
  for (const one of list(context, location.searchStr !== '')) void context.queries.prefetchQuery(one);
}

/**
 * Returns a loader that starts reading what a page shows while its script loads, unless the user may not see it. It
 * waits for nothing: the page has the same queries, and shows their errors.
 */
export const reads =
  <Context = unknown>(list: List<Context>) =>
  (opening: Opening<Context>): void =>
    startReading(opening, undefined, list);

type OfTeam = { readonly teamId: string };

/** As `reads`, for pages of a team: what the permissions of the user allow, as the pages do. */
export const teamReads =
  (list: (teamId: string, can: (permission: Permission) => boolean, hasSearch: boolean) => readonly Read[]) =>
  (opening: Opening<OfTeam>): void => {
    const { queries, teamId } = opening.context;
    const permissions = queries.getQueryData(query('teams.permissions', { teamId }).queryKey);
    const can = (permission: Permission) => permissions?.includes(permission) ?? false;
    startReading(opening, permissions, (_, hasSearch) => list(teamId, can, hasSearch));
  };
