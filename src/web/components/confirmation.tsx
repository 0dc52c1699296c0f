import { Button, Stack, Text } from '@mantine/core';
import { DialogButtons } from './dialog-buttons.tsx';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { useSubmission } from './submission.ts';

type ConfirmationProps = {
  readonly title: string;
  readonly explanation: string;
  readonly submit: string;
  /** Red for destructive actions. */
  readonly color?: 'red' | 'brand';
  /** False while the content below the explanation is loading. */
  readonly isReady?: boolean;
  readonly children?: ReactNode;
  readonly call: () => Promise<unknown>;
  readonly onSuccess: () => void;
  /** Called after an error, which the dialog shows. */
  readonly onError?: (() => void) | undefined;
  readonly onClose: () => void;
};

/** Asks for confirmation before an action that cannot be undone. */
export function Confirmation({
  title,
  explanation,
  submit,
  color = 'red',
  isReady = true,
  children,
  call,
  onSuccess,
  onError,
  onClose,
}: ConfirmationProps) {
  const mutation = useSubmission({ mutationFn: call, onSuccess, ...(onError && { onError }) });
  return (
    <Dialog onClose={onClose} title={title} isBusy={mutation.isPending}>
      <Stack gap="md">
        <Text>{explanation}</Text>
        {children}
        {mutation.error !== null && <FailureAlert failure={toFailure(mutation.error)} />}
        <DialogButtons onCancel={onClose} isBusy={mutation.isPending} focusCancel>
          <Button
            color={color}
            disabled={!isReady}
            loading={mutation.isPending || mutation.isSuccess}
            onClick={() => mutation.submit()}
          >
            {submit}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}
