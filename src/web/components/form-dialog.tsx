import { Button, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CallForm } from './call-form.ts';
import { DialogButtons } from './dialog-buttons.tsx';
import { Dialog } from './dialog.tsx';
import { FailureAlert } from './failure-alert.tsx';

type FormDialogProps = {
  readonly title: string;
  readonly form: CallForm;
  /** What is said before the fields. */
  readonly explanation?: ReactNode;
  /** The text of the button that submits. */
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** Whether the form is not complete enough to be submitted. */
  readonly isIncomplete?: boolean;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ReactNode;
};

/** A dialog with a form. It stays open while its call runs, so that the result, such as a new secret, is seen. */
export const FormDialog = ({ title, form, onClose, children, ...rest }: FormDialogProps) => (
  <Dialog onClose={onClose} title={title} isBusy={form.pending}>
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {rest.explanation}
        {form.failure !== undefined && <FailureAlert failure={form.failure} />}
        {children}
        <DialogButtons onCancel={onClose} isBusy={form.pending}>
          <Button
            type="submit"
            loading={form.pending}
            disabled={rest.isIncomplete === true}
            {...(rest.isDangerous && { color: 'red' })}
          >
            {rest.submit}
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  </Dialog>
);
