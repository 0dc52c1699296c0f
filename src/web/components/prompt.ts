import { useEffect, useState } from 'react';

type Finish = (isDone: boolean) => void;

/**
 * Lets calls ask the user something in a dialog.
 * @param setPrompt stores how calls ask; the answer is whether the user did what they were asked to
 * @returns what ends the open dialog, or nothing if none is open
 */
export function usePrompt(setPrompt: (ask: () => Promise<boolean>) => void): Finish | undefined {
  const [finish, setFinish] = useState<Finish>();
  useEffect(() => {
    setPrompt(
      () =>
        new Promise((resolve) => {
          setFinish(() => (isDone: boolean) => {
            setFinish(undefined);
            resolve(isDone);
          });
        }),
    );
  }, [setPrompt]);
  return finish;
}
