import { Radio, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { developerTexts as words, type ClientKind } from '../../messages/oauth.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { splitLines, NameField, RedirectUrisField } from './client-fields.tsx';
import { Credentials } from './credentials.tsx';

const KINDS: readonly ClientKind[] = ['server', 'browser', 'device'];

export function CreateClient({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<Outputs['oauthClients']['create']>();
  return created === undefined ? (
    <CreateDialog onCreated={setCreated} onClose={onClose} />
  ) : (
    <Credentials title={words.readyTitle(created.client.name)} {...created} onClose={onClose} />
  );
}

type CreateDialogProps = {
  readonly onCreated: (created: Outputs['oauthClients']['create']) => void;
  readonly onClose: () => void;
};

function CreateDialog({ onCreated, onClose }: CreateDialogProps) {
  const queries = useQueryClient();
  const form = useCallForm({
    isNew: true,
    initialValues: { name: '', kind: 'server', redirectUris: '' },
    call: ({ name, kind, redirectUris }) =>
      trpc.oauthClients.create.mutate({
        name,
        redirectUris: splitLines(redirectUris),
        isConfidential: kind === 'server',
        isNative: kind === 'device',
      }),
    onSuccess: (created) => {
      onCreated(created);
      void queries.invalidateQueries(query('oauthClients.list'));
    },
    lists: ['redirectUris'],
  });
  return (
    <FormDialog title={words.createTitle} form={form} submit={words.submit} onClose={onClose}>
      <NameField field={form.field('name')} />
      <Radio.Group {...form.field('kind')} label={words.kind}>
        <Stack gap="sm" mt="xs">
          {KINDS.map((kind) => (
            <Radio key={kind} value={kind} label={words.kinds[kind]} description={words.kindHints[kind]} />
          ))}
        </Stack>
      </Radio.Group>
      <RedirectUrisField field={form.field('redirectUris')} />
    </FormDialog>
  );
}
