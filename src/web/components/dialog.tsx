import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { texts } from '../messages/console.ts';

/** A dialog that is open while it is mounted. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
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
    />
  );
}

/** Restores the focus on unmount, which Modal does only if `opened` changes. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
    },
    [before],
  );
}
