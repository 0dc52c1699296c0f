import { Checkbox, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { useKept } from '../../kept.ts';
import { texts } from '../../messages/console.ts';
import { developerTexts, type ClientKind } from '../../messages/oauth.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Inputs, type Outputs } from '../../trpc.ts';
import { NameField, RedirectUrisField } from '../developer/client-fields.tsx';
import { Credentials } from '../developer/credentials.tsx';
import type { OperatorClient } from './client-columns.tsx';
import { AccessFields, AddressFields, LISTS, toSettings, toValues, useClientChoices } from './client-fields.tsx';

const words = areaTexts.clients;
const KINDS: readonly ClientKind[] = ['server', 'browser', 'device'];

type Created = Outputs['operator']['createClient'];
type FormProps = { readonly reread: () => Promise<unknown>; readonly onClose: () => void };

/** Creates a client and shows its secret once. */
export function CreateOperatorClient({ reread, onClose }: FormProps) {
  const [created, setCreated] = useState<Created>();
  if (created !== undefined)
    return <Credentials title={developerTexts.readyTitle(created.client.name)} {...created} onClose={onClose} />;
  return (
    <CreateDialog
      onCreated={(output) => {
        setCreated(output);
        void reread();
      }}
      onClose={onClose}
    />
  );
}

type CreateProps = { readonly onCreated: (created: Created) => void; readonly onClose: () => void };

function CreateDialog({ onCreated, onClose }: CreateProps) {
  const [isFirstParty, setFirstParty] = useKept('new first-party', true);
  const [isDevelopment, setDevelopment] = useKept('new development', false);
  const choices = useClientChoices(undefined);
  const form = useCallForm({
    isNew: true,
    initialValues: { kind: 'server', ...toValues(undefined) },
    lists: LISTS,
    call: ({ kind, ...values }) => {
      const isConfidential = kind === 'server';
      const input: Required<Inputs['operator']['createClient']> = {
        ...toSettings({ isFirstParty, isConfidential }, values, choices),
        isConfidential,
        isNative: kind === 'device',
        isDevelopment,
      };
      return trpc.operator.createClient.mutate(input);
    },
    onSuccess: onCreated,
  });
  return (
    <FormDialog
      title={developerTexts.createTitle}
      form={form}
      submit={developerTexts.submit}
      isIncomplete={isFirstParty && choices.scopes.length === 0}
      onClose={onClose}
    >
      <NameField field={form.field('name')} />
      <Radio.Group {...form.field('kind')} label={developerTexts.kind}>
        <Stack gap="sm" mt="xs">
          {KINDS.map((kind) => (
            <Radio
              key={kind}
              value={kind}
              label={developerTexts.kinds[kind]}
              description={developerTexts.kindHints[kind]}
            />
          ))}
        </Stack>
      </Radio.Group>
      <RedirectUrisField field={form.field('redirectUris')} />
      <Checkbox
        checked={isFirstParty}
        onChange={(event) => setFirstParty(event.currentTarget.checked)}
        label={words.firstParty}
        description={words.firstPartyHint}
      />
      <AccessFields isFirstParty={isFirstParty} choices={choices} />
      <Checkbox
        checked={isDevelopment}
        onChange={(event) => setDevelopment(event.currentTarget.checked)}
        label={words.development}
        description={words.developmentHint}
      />
      <AddressFields form={form} isFirstParty={isFirstParty} choices={choices} canLimit={isFirstParty} />
    </FormDialog>
  );
}

/** Changes a client. What it is never changes. */
export function EditOperatorClient({ client, reread, onClose }: FormProps & { readonly client: OperatorClient }) {
  const notify = useNotice();
  const { isFirstParty, isConfidential } = client;
  const choices = useClientChoices(client);
  const form = useCallForm({
    initialValues: toValues(client),
    lists: LISTS,
    call: (values) =>
      trpc.operator.updateClient.mutate({ clientId: client.id, ...toSettings(client, values, choices) }),
    onSuccess: async () => {
      await reread();
      onClose();
      notify(developerTexts.edited);
    },
  });
  return (
    <FormDialog
      title={developerTexts.editOf(client.name)}
      form={form}
      submit={texts.save}
      isIncomplete={isFirstParty && choices.scopes.length === 0}
      onClose={onClose}
    >
      <NameField field={form.field('name')} />
      <RedirectUrisField field={form.field('redirectUris')} />
      <AccessFields isFirstParty={isFirstParty} choices={choices} />
      <AddressFields
        form={form}
        isFirstParty={isFirstParty}
        choices={choices}
        canLimit={isFirstParty && isConfidential}
      />
    </FormDialog>
  );
}
