import { Button, Notification } from '@mantine/core';
import { CatchBoundary } from '@tanstack/react-router';
import { Suspense, type ReactNode } from 'react';
import { texts } from '../messages/console.ts';
import { toFailure } from '../trpc.ts';

type LoadedDialogProps = { readonly onClose: () => void; readonly children: ReactNode };

/** A dialog whose code is loaded when it opens. If that fails, such as after an upgrade, the page stays as it is. */
export const LoadedDialog = ({ onClose, children }: LoadedDialogProps) => (
  <CatchBoundary
    getResetKey={() => 'dialog'}
    errorComponent={({ error }) => <NotLoaded error={error} onClose={onClose} />}
  >
    <Suspense fallback={null}>{children}</Suspense>
  </CatchBoundary>
);

function NotLoaded({ error, onClose }: { readonly error: unknown; readonly onClose: () => void }) {
  const { title, detail } = toFailure(error);
  return (
    <div className="notices" role="alert">
      <Notification
        color="red"
        withBorder
        title={title}
        closeButtonProps={{ 'aria-label': texts.close }}
        onClose={onClose}
      >
        {detail}
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => window.location.reload()}>
          {texts.reload}
        </Button>
      </Notification>
    </div>
  );
}
