import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useNotice } from '../../../components/notices.tsx';
import { query } from '../../../trpc.ts';
import { isAbout } from '../refresh.ts';
import { useTeam, type Team } from '../team.ts';

/** Shows the team as it is now, here and in the list of teams. */
export function useTeamChanged() {
  const queries = useQueryClient();
  const notify = useNotice();
  return (team: Team, message: string) => {
    queries.setQueryData(query('getTeam', { teamId: team.id }).queryKey, team);
    void queries.invalidateQueries(query('listTeams'));
    notify(message);
  };
}

/** Goes to the other teams, for this one is over for the reader. */
export function useTeamEnded() {
  const { team } = useTeam();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotice();
  return async (message: string) => {
    queries.setQueryData(query('listTeams').queryKey, (teams) => teams?.filter(({ id }) => id !== team.id));
    await navigate({ to: '/' });
    // Only now: the team's pages would have read it again.
    queries.removeQueries({ predicate: ({ queryKey: [, input] }) => isAbout(input, team.id) });
    void queries.invalidateQueries(query('listTeams'));
    notify(message);
  };
}
