import { Modal, type ModalProps } from '@mantine/core';
import { texts } from '../messages/console.ts';
import { keepDraft } from '../kept.ts';
import { isAskedToSignIn } from '../sign-in-again.ts';
import './dialog.css';
import { useFocusReturn } from './focus-return.ts';

type DialogProps = Omit<ModalProps, 'opened'> & { readonly isBusy?: boolean };

/**
 * A dialog that is open while it is mounted. It stays open while its action runs, and so shows how that ended. What was
 * entered for something new is there again after Escape, a click beside it or the close button; “Cancel” discards it.
 */
export function Dialog({ isBusy = false, onClose, ...props }: DialogProps) {
  useFocusReturn();
  // Escape reaches all open dialogs, wherever the focus is. The sign-in dialog covers this one and its input.
  const close = () => {
    if (isBusy || isAskedToSignIn()) return;
    keepDraft();
    onClose();
  };
  return (
    <Modal
      opened
      centered
      radius="md"
      // Locking would add a style element, which the Content-Security-Policy blocks.
      lockScroll={false}
      transitionProps={{ duration: 120 }}
      // Mantine renders a `header`, which would be a second banner of the page.
      attributes={{ header: { role: 'none' } }}
      closeButtonProps={{ 'aria-label': texts.close }}
      {...props}
      onClose={close}
    />
  );
}
