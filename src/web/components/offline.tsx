import { Alert } from '@mantine/core';
import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { texts } from '../messages/console.ts';

const subscribe = (listener: () => void) => onlineManager.subscribe(listener);
const isOnline = () => onlineManager.isOnline();

/** Reports that the browser has no network. The status region is always present, so that screen readers announce it. */
export function Offline() {
  const online = useSyncExternalStore(subscribe, isOnline);
  return (
    <div role="status" className="offline">
      {!online && (
        <Alert color="yellow" title={texts.offline.title}>
          {texts.offline.detail}
        </Alert>
      )}
    </div>
  );
}
