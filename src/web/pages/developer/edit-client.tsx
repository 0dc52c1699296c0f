import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
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
    <FormDialog title={words.editOf(client.name)} form={form} submit={texts.save} onClose={onClose}>
      <NameField field={form.field('name')} />
      <RedirectUrisField field={form.field('redirectUris')} />
    </FormDialog>
  );
}
