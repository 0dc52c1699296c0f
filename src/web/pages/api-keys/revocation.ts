import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNotice } from '../../components/notices.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { trpc } from '../../trpc.ts';
import { keysQuery, type Key, type TeamId } from './keys.ts';

/** Revokes a key. Its row is removed immediately, and restored on an error. */
export function useRevocation(teamId: TeamId) {
  const queries = useQueryClient();
  const notify = useNotice();
  const list = keysQuery(teamId);
  return useMutation({
    mutationFn: ({ id: keyId }: Key) =>
      teamId === undefined ? trpc.revokeApiKey.mutate({ keyId }) : trpc.apiKeys.revokeInTeam.mutate({ teamId, keyId }),
    onMutate: async ({ id }) => {
      await queries.cancelQueries(list);
      const before = queries.getQueryData(list.queryKey);
      queries.setQueryData(list.queryKey, (keys) => keys?.filter((key) => key.id !== id));
      return { before };
    },
    onError: (_error, _key, context) => queries.setQueryData(list.queryKey, context?.before),
    onSuccess: () => notify(words.revoked),
    onSettled: () => queries.invalidateQueries(list),
  });
}
