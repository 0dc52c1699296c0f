import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { me } from '../session.ts';

type Finish = (isDone: boolean) => void;

/**
 * Lets calls ask the user something in a dialog. If the page stops showing the user, such as after a sign-out, the
 * dialog closes and the calls fail: the next user must not answer for them.
 * @param setPrompt stores how calls ask; the answer is whether the user did what they were asked to
 * @param onRefuse called if the user did not. It and `setPrompt` must stay the same.
 * @returns what ends the open dialog, or nothing if none is open
 */
export function usePrompt(setPrompt: (ask: () => Promise<boolean>) => void, onRefuse?: () => void): Finish | undefined {
  const queries = useQueryClient();
  const [finish, setFinish] = useState<Finish>();
  useEffect(() => {
    const [, account] = me().queryKey;
    const ask = (resolve: Finish) => {
      let isOver = false;
      const end = (isDone: boolean) => {
        if (isOver) return; // such as the answer to a sign-in, after one in another tab was found
        isOver = true;
        unsubscribe();
        setFinish(undefined);
        resolve(isDone);
        if (!isDone) onRefuse?.();
      };
      // Before the dialog is shown, because the user can be gone by then.
      const unsubscribe = queries
        .getQueryCache()
        .subscribe(({ type, query }) => type === 'removed' && query.queryKey[1] === account && end(false));
      setFinish(() => end);
    };
    setPrompt(() => new Promise(ask));
  }, [setPrompt, onRefuse, queries]);
  return finish;
}
