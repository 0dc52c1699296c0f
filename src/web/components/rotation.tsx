import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { DialogButtons } from './dialog-buttons.tsx';
import { rotationTexts as words } from '../messages/rotation.ts';
import { useCallForm } from './call-form.ts';
import { Dialog } from './dialog.tsx';
import { FailureAlert } from './failure-alert.tsx';

type RotationProps<Output> = {
  readonly explanation: string;
  readonly call: (overlapHours: number) => Promise<Output>;
  readonly onSuccess: (output: Output) => void;
  readonly onClose: () => void;
};

/** Asks how long the previous secret stays valid, and rotates. */
export function Rotation<Output>({ explanation, call, onSuccess, onClose }: RotationProps<Output>) {
  const form = useCallForm({
    initialValues: { overlapHours: '24' },
    call: ({ overlapHours }) => call(Number(overlapHours)),
    onSuccess,
  });
  return (
    <Dialog onClose={onClose} title={words.title}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <Text className="wrap">{explanation}</Text>
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <NativeSelect
            {...form.field('overlapHours')}
            label={words.overlap}
            description={words.overlapHint}
            data={Object.entries(words.overlaps).map(([value, label]) => ({ value, label }))}
            data-autofocus
          />
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={form.pending}>
              {words.title}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}
