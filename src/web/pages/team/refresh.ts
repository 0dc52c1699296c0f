import { useQueryClient } from '@tanstack/react-query';
import { useTeam } from './team.ts';

/** Reloads all data of the team after a change. */
export function useTeamRefresh() {
  const { team } = useTeam();
  const queries = useQueryClient();
  return async () => {
    // Offline every read would fail, and hide what is known.
    if (!navigator.onLine) return;
    await queries.invalidateQueries({ predicate: ({ queryKey: [, input] }) => isAbout(input, team.id) });
  };
}

/** Whether a query has the team as input. */
export const isAbout = (input: unknown, teamId: string): boolean =>
  typeof input === 'object' && input !== null && 'teamId' in input && input.teamId === teamId;
