import { Button, Stack, Text } from '@mantine/core';
import { DialogButtons } from './dialog-buttons.tsx';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';

type ConfirmationProps = {
  readonly title: string;
  readonly explanation: string;
  readonly submit: string;
  /** Red for destructive actions. */
  readonly color?: 'red' | 'blue';
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
  const mutation = useMutation({ mutationFn: call, onSuccess, ...(onError && { onError }) });
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack gap="md">
        <Text>{explanation}</Text>
        {children}
        {mutation.error !== null && <FailureAlert failure={toFailure(mutation.error)} />}
        <DialogButtons onCancel={onClose} focusCancel>
          <Button color={color} disabled={!isReady} loading={mutation.isPending} onClick={() => mutation.mutate()}>
            {submit}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}
