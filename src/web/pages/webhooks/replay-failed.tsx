import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
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
    <Dialog onClose={onClose} title={words.replayFailedTitle}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <Text>{words.replayFailedExplanation}</Text>
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <NativeSelect
            {...form.field('hours')}
            label={words.since}
            data={Object.entries(words.spans).map(([value, label]) => ({ value, label }))}
            data-autofocus
          />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {words.replay}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
