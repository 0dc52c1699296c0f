import { createContext, use } from 'react';
import type { Outputs, Permission } from '../../trpc.ts';

export type Team = Outputs['getTeam'];
export type Role = Outputs['listTeamRoles'][number];

export type { Permission };

type TeamPage = {
  readonly team: Team;
  /** Empty if the user does not have `access_dashboard`. */
  readonly roles: readonly Role[];
  /** Whether the user has a permission. The service enforces it; pages hide actions that it would reject. */
  readonly can: (permission: Permission) => boolean;
  /** As `can`, also for a permission of the product. */
  readonly holds: (permission: string) => boolean;
};

export const TeamContext = createContext<TeamPage | null>(null);

/** Returns the team of the page. Works only inside TeamLayout. */
export function useTeam(): TeamPage {
  const page = use(TeamContext);
  if (page === null) throw new Error('This page belongs under TeamLayout.');
  return page;
}
