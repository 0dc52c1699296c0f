import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Dialog } from './dialog.tsx';
import { texts } from '../texts.ts';
import { failureOf } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';

type ConfirmationProps = {
  readonly title: string;
  readonly explanation: string;
  readonly submit: string;
  readonly call: () => Promise<unknown>;
  readonly onSuccess: () => void;
  /** After a refusal, which the dialog shows. */
  readonly onError?: (() => void) | undefined;
  readonly onClose: () => void;
};

/** Asks once more before something that cannot be undone. */
export function Confirmation({ title, explanation, submit, call, onSuccess, onError, onClose }: ConfirmationProps) {
  const mutation = useMutation({ mutationFn: call, onSuccess, ...(onError && { onError }) });
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack gap="md">
        <Text>{explanation}</Text>
        {mutation.error !== null && <FailureAlert failure={failureOf(mutation.error)} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancel}
          </Button>
          <Button color="red" loading={mutation.isPending} onClick={() => mutation.mutate()}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
