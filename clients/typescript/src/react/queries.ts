import { useQuery } from '@tanstack/react-query';
import { useRosterClient, type RosterClient } from './context.ts';

/** The keys of the queries, to invalidate or prefetch them. */
export const rosterKeys = {
  all: ['roster'],
  account: ['roster', 'account'],
  teams: ['roster', 'teams'],
  team: (teamId: string) => ['roster', 'team', teamId],
  members: (teamId: string) => ['roster', 'team', teamId, 'members'],
  roles: (teamId: string) => ['roster', 'team', teamId, 'roles'],
  invitations: (teamId: string) => ['roster', 'team', teamId, 'invitations'],
  apiKeys: (teamId: string | null) => ['roster', 'api-keys', teamId],
} as const;

/** The account that is signed in. */
export function useAccount() {
  const client = useRosterClient();
  return useQuery({ queryKey: rosterKeys.account, queryFn: ({ signal }) => client.getMe.query(undefined, { signal }) });
}

/** The teams of the account. */
export function useTeams() {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.teams,
    queryFn: ({ signal }) => client.listTeams.query(undefined, { signal }),
  });
}

/** A list of a team. Does nothing while the id is null. */
function useList<Output>(
  teamId: string | null,
  keyOf: (teamId: string) => readonly string[],
  procedureOf: (client: RosterClient) => {
    query: (input: { teamId: string }, options: { signal: AbortSignal }) => Promise<Output>;
  },
) {
  const client = useRosterClient();
  return useQuery({
    queryKey: keyOf(teamId ?? ''),
    queryFn: ({ signal }) => procedureOf(client).query({ teamId: teamId ?? '' }, { signal }),
    enabled: teamId !== null,
  });
}

/** The members of a team. Does nothing while the id is null. */
export const useMembers = (teamId: string | null) =>
  useList(teamId, rosterKeys.members, (client) => client.listTeamMembers);

/** The roles of a team. `isAssignable` tells which ones the user can give. Does nothing while the id is null. */
export const useRoles = (teamId: string | null) => useList(teamId, rosterKeys.roles, (client) => client.listTeamRoles);

/** The pending invitations of a team. Does nothing while the id is null. */
export const useInvitations = (teamId: string | null) =>
  useList(teamId, rosterKeys.invitations, (client) => client.listTeamInvitations);

/** The API keys of a team, or with null those of the account. */
export function useApiKeys(teamId: string | null) {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.apiKeys(teamId),
    queryFn: ({ signal }) => client.listApiKeys.query(teamId === null ? {} : { teamId }, { signal }),
  });
}
