import { useQuery } from '@tanstack/react-query';
import { useRosterClient } from './context.ts';

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

/** The members of a team. Does nothing while the id is null. */
export function useMembers(teamId: string | null) {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.members(teamId ?? ''),
    queryFn: ({ signal }) => client.listTeamMembers.query({ teamId: teamId ?? '' }, { signal }),
    enabled: teamId !== null,
  });
}

/** The roles of a team. `isAssignable` tells which ones the user can give. Does nothing while the id is null. */
export function useRoles(teamId: string | null) {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.roles(teamId ?? ''),
    queryFn: ({ signal }) => client.listTeamRoles.query({ teamId: teamId ?? '' }, { signal }),
    enabled: teamId !== null,
  });
}

/** The pending invitations of a team. Does nothing while the id is null. */
export function useInvitations(teamId: string | null) {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.invitations(teamId ?? ''),
    queryFn: ({ signal }) => client.listTeamInvitations.query({ teamId: teamId ?? '' }, { signal }),
    enabled: teamId !== null,
  });
}

/** The API keys of a team, or with null those of the account. */
export function useApiKeys(teamId: string | null) {
  const client = useRosterClient();
  return useQuery({
    queryKey: rosterKeys.apiKeys(teamId),
    queryFn: ({ signal }) => client.listApiKeys.query(teamId === null ? {} : { teamId }, { signal }),
  });
}
