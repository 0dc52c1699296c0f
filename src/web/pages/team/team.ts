import { createContext, use } from 'react';
import type { Outputs } from '../../trpc.ts';

export type Team = Outputs['getTeam'];
export type Role = Outputs['listTeamRoles'][number];
export type Permission = Outputs['teams']['permissions'][number];

type TeamPage = {
  readonly team: Team;
  /** None for a reader without `access_dashboard`. */
  readonly roles: readonly Role[];
  /** Whether the reader's role holds a permission. The service decides; pages do not offer what it would refuse. */
  readonly can: (permission: Permission) => boolean;
};

export const TeamContext = createContext<TeamPage | null>(null);

/** The team that a page is about; only under TeamLayout. */
export function useTeam(): TeamPage {
  const page = use(TeamContext);
  if (page === null) throw new Error('This page belongs under TeamLayout.');
  return page;
}
