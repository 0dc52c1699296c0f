import { Modal, type ModalProps } from '@mantine/core';
import { texts } from '../texts.ts';

/** A dialog that is open as long as it is there. */
export const Dialog = (props: Omit<ModalProps, 'opened'>) => (
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
