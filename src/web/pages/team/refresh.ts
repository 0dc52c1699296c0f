import { useTeamReload } from '#client/react';
import { useTeam } from './team.ts';

/** Reloads all data of the team after a change, and the notices. */
export const useTeamRefresh = () => useTeamReload(useTeam().team.id);
