import { useMatches, useNavigate } from '@tanstack/react-router';

/** Returns how to open a team: on the same page as the present one, where the other team has it. */
export function useTeamOpener(): (slug: string) => void {
  const navigate = useNavigate();
  const path = useMatches().at(-1)?.fullPath ?? '';
  const [page] = path.startsWith('/teams/$teamId') ? path.split('/$endpointId') : ['/teams/$teamId'];
  // A page of a team, which has no other params.
  return (slug) => void navigate({ to: page as '/teams/$teamId', params: { teamId: slug } });
}
