import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { trpc } from '../../trpc.ts';
import type { Key } from './keys.ts';

/** Revokes the selected keys. */
export const keyRevocation: BulkAction<Key> = {
  id: 'revoke',
  ...words.bulkRevoke,
  color: 'red',
  applies: () => true,
  call: ({ id: keyId, teamId }) =>
    teamId === null ? trpc.revokeApiKey.mutate({ keyId }) : trpc.apiKeys.revokeInTeam.mutate({ teamId, keyId }),
};
