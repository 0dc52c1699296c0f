import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRosterClient } from './context.ts';
import { rosterKeys } from './queries.ts';
import { useSingleFlight } from './single-flight.ts';

/**
 * The page that an invitation link leads to: what it is for, and how to answer it.
 * @param token of the link
 */
export function useInvitation(token: string) {
  const client = useRosterClient();
  const queryClient = useQueryClient();
  const invitation = useQuery({
    queryKey: [...rosterKeys.all, 'invitation', token],
    queryFn: ({ signal }) => client.invitations.read.query({ token }, { signal }),
    retry: false, // a link that has been used stays so
  });
  // An invitation is answered once: a second click, also after the answer, has the same result.
  const acceptOnce = useSingleFlight(client.invitations.accept.mutate, true);
  const declineOnce = useSingleFlight(client.invitations.decline.mutate, true);
  const accept = useMutation({
    mutationFn: () => acceptOnce({ token }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: rosterKeys.teams }),
  });
  const decline = useMutation({ mutationFn: () => declineOnce({ token }) });
  return {
    invitation: invitation.data ?? null,
    isPending: invitation.isPending,
    accept,
    decline,
    /** The team that was joined. */
    joined: accept.data ?? null,
    error: invitation.error ?? accept.error ?? decline.error,
  };
}
