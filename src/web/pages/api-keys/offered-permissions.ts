import { useQuery } from '@tanstack/react-query';
import type { DeclaredPermission } from '../../components/permissions/groups.ts';
import { permissionsQuery } from '../../page-queries.ts';
import { query } from '../../trpc.ts';

/**
 * Returns the permissions of the product that a key can have: those for keys that the user holds in the team of a team
 * key, and those that the key has already. A personal key is limited by the user’s role in each team, at each call.
 */
export function useOfferedPermissions(
  teamId: string | null,
  held: readonly string[] = [],
): readonly DeclaredPermission[] {
  const declared = useQuery(permissionsQuery());
  const inTeam = useQuery({ ...query('teams.permissions', { teamId: teamId ?? '' }), enabled: teamId !== null });
  const canGive = ({ name, isForKeys, isDeprecated }: DeclaredPermission) =>
    isForKeys && !isDeprecated && (teamId === null || inTeam.data?.includes(name) === true);
  return (declared.data ?? []).filter((each) => held.includes(each.name) || canGive(each));
}
