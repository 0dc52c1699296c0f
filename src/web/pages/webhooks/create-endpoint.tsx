import { NativeSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { trpc } from '../../trpc.ts';
import { useSeesAll, type EventType, type NewSecret, type TeamId } from './endpoints.ts';
import { EventTypes } from './event-types.tsx';
import { SecretOnce } from './secret-once.tsx';
import { useKept } from '../../kept.ts';

type CreateEndpointProps = { readonly teamId: TeamId; readonly onClose: () => void };

export function CreateEndpoint({ teamId, onClose }: CreateEndpointProps) {
  const [created, setCreated] = useState<NewSecret>();
  return created === undefined ? (
    <CreateDialog teamId={teamId} onCreated={setCreated} onClose={onClose} />
  ) : (
    <SecretOnce title={words.createdTitle} {...created} onClose={onClose} />
  );
}

type CreateDialogProps = CreateEndpointProps & { readonly onCreated: (created: NewSecret) => void };

function CreateDialog({ teamId, onCreated, onClose }: CreateDialogProps) {
  const [chosen, setTypes] = useKept<string[] | undefined>('new types', undefined);
  const seesAll = useSeesAll(teamId);
  const types = chosen ?? (seesAll ? undefined : []);
  const queries = useQueryClient();
  const form = useCallForm({
    isNew: true,
    initialValues: { url: '', signature: 'hmac' },
    call: ({ url, signature }) =>
      trpc.webhooks.create.mutate({
        teamId,
        url,
        signature: signature === 'ed25519' ? 'ed25519' : 'hmac',
        types: asTypes(types),
      }),
    onSuccess: (created) => {
      onCreated(created);
      void queries.invalidateQueries(endpointsQuery(teamId));
    },
    fieldOf: {},
  });
  return (
    <FormDialog
      title={words.createTitle}
      form={form}
      submit={words.create}
      isIncomplete={types?.length === 0}
      onClose={onClose}
    >
      <TextInput
        {...form.field('url')}
        label={words.url}
        description={words.urlHint}
        type="url"
        autoComplete="off"
        required
        data-autofocus
      />
      <NativeSelect
        {...form.field('signature')}
        label={words.signature}
        description={words.signatureHint}
        data={Object.entries(words.signatures).map(([value, label]) => ({ value, label }))}
      />
      <EventTypes teamId={teamId} chosen={types} onChange={setTypes} />
    </FormDialog>
  );
}

/** The names that the service listed. None stands for all. */
export const asTypes = (types: readonly string[] | undefined) => [...(types ?? [])] as EventType['type'][];
