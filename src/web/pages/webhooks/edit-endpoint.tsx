import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { endpointsQuery } from '../../page-queries.ts';
import { texts } from '../../messages/console.ts';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { trpc } from '../../trpc.ts';
import { asTypes } from './create-endpoint.tsx';
import { useSeesAll, type Endpoint, type TeamId } from './endpoints.ts';
import { EventTypes } from './event-types.tsx';
import { useKept } from '../../kept.ts';

type EditEndpointProps = { readonly teamId: TeamId; readonly endpoint: Endpoint; readonly onClose: () => void };

export function EditEndpoint({ teamId, endpoint, onClose }: EditEndpointProps) {
  const [types, setTypes] = useKept<string[] | undefined>(
    'types',
    endpoint.types.length === 0 ? undefined : endpoint.types,
  );
  const seesAll = useSeesAll(teamId);
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { url: endpoint.url },
    call: ({ url }) =>
      trpc.webhooks.update.mutate({ teamId, endpointId: endpoint.endpointId, url, types: asTypes(types) }),
    onSuccess: async () => {
      await queries.invalidateQueries(endpointsQuery(teamId));
      onClose();
      notify(words.edited);
    },
  });
  return (
    <FormDialog
      title={words.editOf(endpoint.url)}
      form={form}
      submit={texts.save}
      // Whoever saves all events becomes responsible for them, without being able to see them.
      isIncomplete={types === undefined ? !seesAll : types.length === 0}
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
      <EventTypes teamId={teamId} chosen={types} onChange={setTypes} />
    </FormDialog>
  );
}
