import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { texts } from '../messages/console.ts';

/** A dialog that is open as long as it is there. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusReturn();
  return (
    <Modal
      opened
      centered
      radius="md"
      // Locking would need a style element, which the policy of the pages refuses.
      lockScroll={false}
      transitionProps={{ duration: 120 }}
      // As a banner of the page, which Mantine's element is, it would be a second one.
      attributes={{ header: { role: 'none' } }}
      closeButtonProps={{ 'aria-label': texts.close }}
      {...props}
    />
  );
}

/** Gives the focus back to what had it: Modal does so only when it is told to close, and not when it goes. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
    },
    [before],
  );
}
