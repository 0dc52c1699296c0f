import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../messages/console.ts';

type DialogButtonsProps = {
  readonly onCancel: () => void;
  /** Whether the cancel button has the focus when the dialog opens. */
  readonly focusCancel?: boolean;
  /** The button that submits. */
  readonly children: ReactNode;
};

/** The buttons at the end of a dialog. */
export const DialogButtons = ({ onCancel, focusCancel = false, children }: DialogButtonsProps) => (
  <Group justify="flex-end" gap="sm">
    <Button variant="default" onClick={onCancel} {...(focusCancel && { 'data-autofocus': true })}>
      {texts.cancel}
    </Button>
    {children}
  </Group>
);
