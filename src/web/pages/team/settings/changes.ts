import { isAboutTeam } from '#client/react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useNotice } from '../../../components/notices.tsx';
import { forgetEntered } from '../../../kept.ts';
import { query } from '../../../trpc.ts';
import { useTeam, type Team } from '../team.ts';

/** Updates the team on this page and in the list of teams. */
export function useTeamChanged() {
  const queries = useQueryClient();
  const notify = useNotice();
  return (team: Team, message: string) => {
    queries.setQueryData(query('getTeam', { teamId: team.id }).queryKey, team);
    void queries.invalidateQueries(query('listTeams'));
    notify(message);
  };
}

/** Opens the list of teams after the user left or deleted this one. */
export function useTeamEnded() {
  const { team } = useTeam();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotice();
  return async (message: string) => {
    queries.setQueryData(query('listTeams').queryKey, (teams) => teams?.filter(({ id }) => id !== team.id));
    forgetEntered();
    await navigate({ to: '/' });
    // Removed after the navigation, because the team’s pages would reload it.
    queries.removeQueries({ predicate: ({ queryKey }) => isAboutTeam(queryKey, team.id) });
    void queries.invalidateQueries(query('listTeams'));
    void queries.invalidateQueries(query('teams.notices'));
    notify(message);
  };
}
