import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../messages/console.ts';

type DialogButtonsProps = {
  readonly onCancel: () => void;
  /** Whether the cancel button has the focus when the dialog opens. */
  readonly focusCancel?: boolean;
  /** Whether the action runs. Its result is shown in the dialog, which cannot be closed meanwhile. */
  readonly isBusy?: boolean;
  /** The button that submits. */
  readonly children: ReactNode;
};

/** The last row of a dialog. It stays visible while a dialog that is higher than the window is scrolled. */
export const DialogFooter = ({ children }: { readonly children: ReactNode }) => (
  <Group justify="flex-end" gap="sm" className="dialog-footer">
    {children}
  </Group>
);

/** The buttons at the end of a dialog. */
export const DialogButtons = ({ onCancel, focusCancel = false, isBusy = false, children }: DialogButtonsProps) => (
  <DialogFooter>
    <Button variant="default" onClick={onCancel} disabled={isBusy} {...(focusCancel && { 'data-autofocus': true })}>
      {texts.cancel}
    </Button>
    {children}
  </DialogFooter>
);
