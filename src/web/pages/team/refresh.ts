import { useTeamReload } from '#client/react';
import { useQueryClient } from '@tanstack/react-query';
import { query } from '../../trpc.ts';
import { useTeam } from './team.ts';

/** Reloads all data of the team after a change, and the notices, which are of all teams. */
export function useTeamRefresh() {
  const reload = useTeamReload(useTeam().team.id);
  const queries = useQueryClient();
  return async () => {
    if (navigator.onLine) void queries.invalidateQueries(query('teams.notices'));
    await reload();
  };
}
