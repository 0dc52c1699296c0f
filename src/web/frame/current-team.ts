import { useQuery } from '@tanstack/react-query';
import { useMatch } from '@tanstack/react-router';
import { query, toFailure, type Outputs } from '../trpc.ts';

type CurrentTeam = {
  readonly team: Outputs['getTeam'];
  readonly permissions: Outputs['teams']['permissions'];
};

/** Returns the id of the team of the page, or undefined on other pages. */
export const useCurrentTeamId = (): string | undefined =>
  useMatch({ from: '/console/teams/$teamId', shouldThrow: false })?.context.teamId;

/** Returns the team of the page, or undefined while it loads and if the user cannot see it. */
export function useCurrentTeam(): CurrentTeam | undefined {
  const teamId = useCurrentTeamId();
  const isIn = teamId !== undefined;
  const team = useQuery({ ...query('getTeam', { teamId: teamId ?? '' }), enabled: isIn });
  const permissions = useQuery({ ...query('teams.permissions', { teamId: teamId ?? '' }), enabled: isIn });
  if (!isIn || team.data === undefined || permissions.data === undefined) return undefined;
  const isGone = [team, permissions].some(({ error }) => error !== null && toFailure(error).code === 'team_not_found');
  return isGone ? undefined : { team: team.data, permissions: permissions.data };
}
