import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { keysQuery } from '../../page-queries.ts';
import { texts } from '../../messages/console.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { trpc } from '../../trpc.ts';
import type { Key } from './keys.ts';

type RenameKeyProps = { readonly apiKey: Key; readonly onClose: () => void };

/** Renames a key of the user. */
export function RenameKey({ apiKey: { id, name, teamId }, onClose }: RenameKeyProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { name },
    call: (values) => trpc.apiKeys.rename.mutate({ keyId: id, name: values.name.trim() }),
    onSuccess: async (renamed) => {
      await queries.invalidateQueries(keysQuery(teamId ?? undefined));
      onClose();
      notify(words.renamed(renamed.name));
    },
  });
  return (
    <FormDialog title={words.renameTitle(name)} form={form} submit={texts.save} onClose={onClose}>
      <TextInput {...form.field('name')} label={words.name} autoComplete="off" required data-autofocus />
    </FormDialog>
  );
}
