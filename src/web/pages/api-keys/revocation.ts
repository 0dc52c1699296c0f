import { useQueryClient } from '@tanstack/react-query';
import { useNotice } from '../../components/notices.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { keysQuery, revokeKey, type Key, type TeamId } from './keys.ts';

/** Returns how to revoke a key, and to remove its row once the service has confirmed it. */
export function useRevocation(teamId: TeamId) {
  const queries = useQueryClient();
  const notify = useNotice();
  const list = keysQuery(teamId);
  return {
    revoke: revokeKey,
    remove: ({ id }: Key) => {
      queries.setQueryData(list.queryKey, (keys) => keys?.filter((key) => key.id !== id));
      void queries.invalidateQueries(list);
      notify(words.revoked);
    },
  };
}
