import { useQueryClient } from '@tanstack/react-query';
import { useTeam } from './team.ts';

/** Reads again what is known of the team, because something of it has changed here or elsewhere. */
export function useTeamRefresh() {
  const { team } = useTeam();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ predicate: ({ queryKey: [, input] }) => isAbout(input, team.id) });
}

/** Whether a read is addressed to the team. */
export const isAbout = (input: unknown, teamId: string): boolean =>
  typeof input === 'object' && input !== null && 'teamId' in input && input.teamId === teamId;
