import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { isAboutTeam } from './query.ts';

/** Queries of these paths, of all teams or of one. */
export type Changed = { readonly paths: RegExp; readonly teamId?: string };

const toFilter = ({ paths, teamId }: Changed) => ({
  predicate: ({ queryKey }: Pick<Query, 'queryKey'>) =>
    queryKey[0] === 'roster' &&
    paths.test(String(queryKey[1])) &&
    (teamId === undefined || isAboutTeam(queryKey, teamId)),
});

/**
 * Reads what is shown of them again, and the notices: these are of all teams, and any change can end one or begin one.
 * Offline it does nothing, because every read would fail and hide what is known.
 */
export async function reload(queries: QueryClient, changed: Changed): Promise<void> {
  if (typeof navigator !== 'undefined' && navigator.onLine === false) return;
  void queries.invalidateQueries({ queryKey: ['roster', 'teams.notices'] }); // not waited for: they are beside the change
  await queries.invalidateQueries(toFilter(changed));
}

/** Returns how to read everything of a team again, and the notices, after a change without a hook. */
export function useTeamReload(teamId: string) {
  const queries = useQueryClient();
  return () => reload(queries, { paths: /./, teamId });
}

/** Changes cached lists. A running read would bring back the old rows, so it ends. */
export async function changeRows<Row>(
  queries: QueryClient,
  changed: Changed,
  change: (rows: readonly Row[]) => readonly Row[],
): Promise<void> {
  const lists = toFilter(changed);
  await queries.cancelQueries(lists);
  queries.setQueriesData<readonly Row[]>(lists, (rows) => rows && change(rows));
}
