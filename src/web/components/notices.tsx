import { Notification } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { createContext, use, useCallback, useState, type ReactNode } from 'react';
import { texts } from '../messages/console.ts';

const SHOWN_MS = 8000;

const NoticeContext = createContext<(message: string) => void>(() => undefined);

/** Shows and announces a notice, also if the page changes. */
export const useNotice = () => use(NoticeContext);

export function Notices({ children }: { readonly children: ReactNode }) {
  const [message, setMessage] = useState<string>();
  const { start, clear } = useTimeout(() => setMessage(undefined), SHOWN_MS);
  const notify = useCallback(
    (next: string) => {
      clear();
      setMessage(next);
      start();
    },
    [clear, start],
  );
  return (
    <NoticeContext value={notify}>
      {children}
      <div className="notices" role="status">
        {message !== undefined && (
          <Notification
            color="teal"
            withBorder
            closeButtonProps={{ 'aria-label': texts.close }}
            onClose={() => setMessage(undefined)}
          >
            {message}
          </Notification>
        )}
      </div>
    </NoticeContext>
  );
}
