import { Button, Stack, Text, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { passkeyErrorText } from '../passkeys.ts';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { Key } from './icon.tsx';
import { useSubmission } from './submission.ts';

type PasskeyButtonProps<Output> = ButtonProps & {
  readonly call: () => Promise<Output>;
  readonly onSuccess: (output: Output) => void;
  readonly children: ReactNode;
};

/** Uses a passkey, and shows above it why that failed. */
export function PasskeyButton<Output>({ call, onSuccess, ...props }: PasskeyButtonProps<Output>) {
  const passkey = useSubmission({ isRepeatable: true, mutationFn: call, onSuccess });
  const passkeyError = passkeyErrorText(passkey.error, 'notUsed');
  return (
    <Stack gap="md">
      {passkeyError !== undefined && (
        <Text size="sm" role="alert">
          {passkeyError}
        </Text>
      )}
      {passkey.error !== null && passkeyError === undefined && <FailureAlert failure={toFailure(passkey.error)} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<Key />}
        {...props}
        loading={passkey.isPending}
        onClick={() => passkey.submit()}
      />
    </Stack>
  );
}
