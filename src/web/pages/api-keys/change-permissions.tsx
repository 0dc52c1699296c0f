import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { useKept } from '../../kept.ts';
import { texts } from '../../messages/console.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { keysQuery } from '../../page-queries.ts';
import { trpc } from '../../trpc.ts';
import type { Key } from './keys.ts';
import { useOfferedPermissions } from './offered-permissions.ts';
import { PermissionsField } from './permissions-field.tsx';

type ChangePermissionsProps = { readonly apiKey: Key; readonly onClose: () => void };

/** Replaces what a key of the user can do in the product. */
export function ChangePermissions({ apiKey, onClose }: ChangePermissionsProps) {
  const { id, name, teamId, scopes, permissions } = apiKey;
  const [ticked, setTicked] = useKept<readonly string[]>('permissions', permissions);
  const offered = useOfferedPermissions(teamId, permissions);
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: {},
    call: () => trpc.apiKeys.setPermissions.mutate({ keyId: id, permissions: [...ticked] }),
    onSuccess: async () => {
      await queries.invalidateQueries(keysQuery(teamId ?? undefined));
      onClose();
      notify(words.permissionsChanged);
    },
  });
  const isSame = ticked.length === permissions.length && permissions.every((one) => ticked.includes(one));
  return (
    <FormDialog
      title={words.permissionsTitle(name)}
      form={form}
      submit={texts.save}
      // A key that can do nothing is revoked instead.
      isIncomplete={isSame || scopes.length + ticked.length === 0}
      onClose={onClose}
    >
      <PermissionsField offered={offered} isOfTeam={teamId !== null} ticked={ticked} onChange={setTicked} />
    </FormDialog>
  );
}
