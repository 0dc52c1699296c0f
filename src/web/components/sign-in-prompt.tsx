import { useQueryClient } from '@tanstack/react-query';
import { lazy, useEffect, useEffectEvent } from 'react';
import { me } from '../session.ts';
import { setSignInPrompt } from '../sign-in-again.ts';
import { LoadedDialog } from './loaded-dialog.tsx';
import { usePrompt } from './prompt.ts';

const SignInDialog = lazy(() => import('./sign-in-dialog.tsx').then((module) => ({ default: module.SignInDialog })));

type SignInPromptProps = {
  /** Called if the user does not sign in again, or signs in as someone else. */
  readonly onLeave: () => void;
};

/** Opens the dialog in which users sign in again, whenever a call needs it. The page below stays as it is. */
export function SignInPrompt({ onLeave }: SignInPromptProps) {
  const queries = useQueryClient();
  const finish = usePrompt(setSignInPrompt);
  const end = (isSignedIn: boolean) => {
    finish?.(isSignedIn);
    if (!isSignedIn) onLeave();
  };
  const leave = useEffectEvent(() => end(false));
  useEffect(() => {
    if (finish === undefined) return undefined;
    // Another call has found that the user has left, such as a sign-out in this tab.
    const onChange = ({ type, query }: { type: string; query: { queryKey: readonly unknown[] } }) =>
      type === 'removed' && query.queryKey[1] === me().queryKey[1] && leave();
    return queries.getQueryCache().subscribe(onChange);
  }, [queries, finish]);
  return finish === undefined ? null : (
    <LoadedDialog onClose={() => end(false)}>
      <SignInDialog onFinish={end} />
    </LoadedDialog>
  );
}
