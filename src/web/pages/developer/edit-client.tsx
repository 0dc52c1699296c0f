import { Button, Stack } from '@mantine/core';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { developerTexts as words } from '../../messages/oauth.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { splitLines, NameField, RedirectUrisField } from './client-fields.tsx';

type EditClientProps = { readonly client: Outputs['oauthClients']['list'][number]; readonly onClose: () => void };

export function EditClient({ client, onClose }: EditClientProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { name: client.name, redirectUris: client.redirectUris.join('\n') },
    call: ({ name, redirectUris }) =>
      trpc.oauthClients.update.mutate({ clientId: client.id, name, redirectUris: splitLines(redirectUris) }),
    onSuccess: async () => {
      await queries.invalidateQueries(query('oauthClients.list'));
      onClose();
      notify(words.edited);
    },
    lists: ['redirectUris'],
  });
  return (
    <Dialog onClose={onClose} title={words.editOf(client.name)}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <NameField field={form.field('name')} />
          <RedirectUrisField field={form.field('redirectUris')} />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {texts.save}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
