import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRosterClient } from './context.ts';
import { documentOf } from './problem.ts';
import { useRosterQuery } from './queries.ts';
import { reload } from './reload.ts';
import { useSingleFlight } from './single-flight.ts';

/**
 * The page that an invitation link leads to: what it is for, and how to answer it.
 * @param token of the link
 */
export function useInvitation(token: string) {
  const client = useRosterClient();
  const queries = useQueryClient();
  const invitation = useQuery({
    ...useRosterQuery()('invitations.read', { token }),
    retry: (count, error) => count < 2 && documentOf(error) === undefined, // a link that has been used stays so
  });
  // An invitation is answered once: a second click, also after the answer, has the same result.
  const acceptOnce = useSingleFlight(client.invitations.accept.mutate, true);
  const declineOnce = useSingleFlight(client.invitations.decline.mutate, true);
  const accept = useMutation({
    mutationFn: () => acceptOnce({ token }),
    onSuccess: () => void reload(queries, { paths: /^listTeams$/ }),
  });
  const decline = useMutation({ mutationFn: () => declineOnce({ token }) });
  return {
    invitation: invitation.data ?? null,
    isPending: invitation.isPending,
    /** Why the invitation cannot be shown. `accept` and `decline` have errors of their own. */
    error: invitation.error,
    accept,
    decline,
    /** The team that was joined. */
    joined: accept.data ?? null,
  };
}
