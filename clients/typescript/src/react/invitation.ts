import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRosterClient } from './context.ts';
import { rosterKeys } from './queries.ts';

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
  const accept = useMutation({
    mutationFn: () => client.invitations.accept.mutate({ token }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: rosterKeys.teams }),
  });
  const decline = useMutation({ mutationFn: () => client.invitations.decline.mutate({ token }) });
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
