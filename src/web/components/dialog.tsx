import { Modal, type ModalProps } from '@mantine/core';
import { texts } from '../messages/console.ts';
import './dialog.css';
import { useFocusReturn } from './focus-return.ts';

type DialogProps = Omit<ModalProps, 'opened'> & { readonly isBusy?: boolean };

/** A dialog that is open while it is mounted. It stays open while its action runs, and so shows how that ended. */
export function Dialog({ isBusy = false, ...props }: DialogProps) {
  useFocusReturn();
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
      {...(isBusy && { onClose: () => undefined })}
    />
  );
}
