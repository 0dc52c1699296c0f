import { NativeSelect, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { trpc } from '../../trpc.ts';
import { reloadDeliveries } from './reload.ts';
import type { TeamId } from './endpoints.ts';

const HOUR_MS = 3_600_000;

type ReplayFailedProps = { readonly teamId: TeamId; readonly endpointId: string; readonly onClose: () => void };

/** Asks since when, and sends everything again that failed. */
export function ReplayFailed({ teamId, endpointId, onClose }: ReplayFailedProps) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { hours: '24' },
    call: ({ hours }) => {
      const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
      return trpc.webhooks.replayFailed.mutate({ teamId, endpointId, since });
    },
    onSuccess: async ({ replayed }) => {
      await reloadDeliveries(queries);
      onClose();
      notify(words.replayedCount(replayed));
    },
  });
  return (
    <FormDialog
      title={words.replayFailedTitle}
      form={form}
      explanation={<Text>{words.replayFailedExplanation}</Text>}
      submit={words.replay}
      onClose={onClose}
    >
      <NativeSelect
        {...form.field('hours')}
        label={words.since}
        data={Object.entries(words.spans).map(([value, label]) => ({ value, label }))}
        data-autofocus
      />
    </FormDialog>
  );
}
