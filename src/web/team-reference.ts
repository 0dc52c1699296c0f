import type { QueryClient } from '@tanstack/react-query';
import { redirect } from '@tanstack/react-router';
import { query, toFailure } from './trpc.ts';

/** Whether the part of a URL that names a team is its id, as in older links. Slugs have no underscore. */
const isTeamId = (reference: string): boolean => reference.startsWith('team_');

/** Returns the id of a team that the user has seen before in this page. */
function findKnownId(queries: QueryClient, slug: string): string | undefined {
  const read = queries.getQueryData(query('teams.bySlug', { slug }).queryKey);
  const teams = queries.getQueryData(query('listTeams').queryKey);
  return read?.team.id ?? teams?.find((team) => team.slug === slug)?.id;
}

/** Starts reading what all pages of a team need, in the same request as the account. */
export function readTeam(queries: QueryClient, reference: string): void {
  const teamId = isTeamId(reference) ? reference : findKnownId(queries, reference);
  if (teamId === undefined) void queries.prefetchQuery(query('teams.bySlug', { slug: reference }));
  else {
    void queries.prefetchQuery(query('getTeam', { teamId }));
    void queries.prefetchQuery(query('teams.permissions', { teamId }));
  }
  void queries.prefetchQuery(query('listTeams'));
}

type Entry = {
  readonly context: { readonly queries: QueryClient };
  readonly location: { readonly pathname: string; readonly search: object; readonly hash: string };
  readonly params: { readonly teamId: string };
};

/** Finds the id of the team in a URL. Redirects from the id to the slug, which never changes. */
export async function openTeam({ context: { queries }, location, params: { teamId: reference } }: Entry) {
  if (!isTeamId(reference)) return { teamId: await findId(queries, reference) };
  // The page shows why a team cannot be read.
  const team = await queries.ensureQueryData(query('getTeam', { teamId: reference })).catch(() => undefined);
  if (team === undefined || team.slug === reference) return { teamId: reference };
  // eslint-disable-next-line typescript/only-throw-error -- how the router redirects
  throw redirect({
    to: location.pathname.replace(reference, team.slug),
    search: location.search,
    hash: location.hash,
    replace: true,
  });
}

/** @returns the slug itself for a team that the user cannot see: no team has it as its id */
async function findId(queries: QueryClient, slug: string): Promise<string> {
  const bySlug = query('teams.bySlug', { slug });
  // A request that has started also has the permissions.
  const known = queries.getQueryState(bySlug.queryKey) === undefined ? findKnownId(queries, slug) : undefined;
  if (known !== undefined) return known;
  try {
    const { team, permissions } = await queries.ensureQueryData(bySlug);
    const teamId = team.id;
    queries.setQueryData(query('getTeam', { teamId }).queryKey, (newer) => newer ?? team);
    queries.setQueryData(query('teams.permissions', { teamId }).queryKey, (newer) => newer ?? permissions);
    return teamId;
  } catch (error) {
    if (toFailure(error).code === 'team_not_found') return slug;
    throw error;
  }
}
