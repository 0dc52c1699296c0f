import { lazy, useEffect } from 'react';
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
  const finish = usePrompt(setSignInPrompt, onLeave);
  useEffect(() => {
    if (finish === undefined) return undefined;
    // The back button leaves the page: what was submitted there is canceled.
    const onBack = () => finish(false);
    window.addEventListener('popstate', onBack);
    return () => window.removeEventListener('popstate', onBack);
  }, [finish]);
  return finish === undefined ? null : (
    <LoadedDialog onClose={() => finish(false)}>
      <SignInDialog onFinish={finish} />
    </LoadedDialog>
  );
}
