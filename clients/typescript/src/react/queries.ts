import { useQuery } from '@tanstack/react-query';
import type { Member } from '../generated/operations.ts';
import { useRosterClient } from './context.ts';
import { createQuery, type RosterQuery } from './query.ts';

/** Returns the TanStack Query options of every query, for those without a hook. */
export const useRosterQuery = (): RosterQuery => createQuery(useRosterClient());

/** The account that is signed in. */
export const useAccount = () => useQuery(useRosterQuery()('getMe'));

/** The teams of the account. */
export const useTeams = () => useQuery(useRosterQuery()('listTeams'));

const inTeam = (teamId: string | null) => [{ teamId: teamId ?? '' }, { enabled: teamId !== null }] as const;

/** A member of a team. */
export type TeamMember = Member & { readonly accountId: string };

// Outside of a component, so that an unchanged list keeps its identity.
const withAccountIds = (members: readonly Member[]): TeamMember[] =>
  members.map((member) => ({ ...member, accountId: member.userId }));

/** The members of a team. Does nothing while the id is null. */
export function useMembers(teamId: string | null) {
  const [input, options] = inTeam(teamId);
  return useQuery({ ...useRosterQuery()('listTeamMembers', input), ...options, select: withAccountIds });
}

/** The roles of a team. `isAssignable` tells which ones the user can give. Does nothing while the id is null. */
export function useRoles(teamId: string | null) {
  const [input, options] = inTeam(teamId);
  return useQuery({ ...useRosterQuery()('listTeamRoles', input), ...options });
}

/** The pending invitations of a team. Does nothing while the id is null. */
export function useInvitations(teamId: string | null) {
  const [input, options] = inTeam(teamId);
  return useQuery({ ...useRosterQuery()('listTeamInvitations', input), ...options });
}

/** The API keys of a team, or with null those of the account. */
export const useApiKeys = (teamId: string | null) =>
  useQuery(useRosterQuery()('listApiKeys', teamId === null ? {} : { teamId }));
