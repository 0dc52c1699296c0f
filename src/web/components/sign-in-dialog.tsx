import { Anchor, Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { signInAgainTexts as words } from '../messages/sign-in-again.ts';
import { signInWithPasskey, supportsPasskeys } from '../passkeys.ts';
import { me } from '../session.ts';
import { isSameUser, trpc } from '../trpc.ts';
import { useCallForm } from './call-form.ts';
import { DialogFooter } from './dialog-buttons.tsx';
import { Dialog } from './dialog.tsx';
import { FailureAlert } from './failure-alert.tsx';
import { Username } from './new-password.tsx';
import { PasskeyButton } from './passkey-button.tsx';

type SignInDialogProps = {
  /** Called with whether the browser is signed in as the user that the page shows. */
  readonly onFinish: (isSignedIn: boolean) => void;
};

/**
 * Covers a page whose session has ended, and signs in again as the same user: by password, by passkey, or in another
 * tab. Nothing but its buttons closes it, because the page below has what the user entered.
 */
export function SignInDialog({ onFinish }: SignInDialogProps) {
  const { data: account } = useQuery({ ...me(), enabled: false });
  useSignInElsewhere(onFinish);
  if (account === undefined) return null;
  return (
    <Dialog
      onClose={() => undefined}
      title={publicTexts.signIn.endedTitle}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={400}
    >
      <Stack gap="md">
        <Text className="wrap">{words.explanation(account.email ?? account.id)}</Text>
        {account.email !== null && <PasswordSignIn email={account.email} onFinish={onFinish} />}
        {supportsPasskeys() && (
          <>
            {account.email !== null && <Divider label={publicTexts.signIn.or} />}
            <PasskeyButton call={() => signInWithPasskey().then(checkUser)} onSuccess={onFinish}>
              {publicTexts.signIn.passkey}
            </PasskeyButton>
          </>
        )}
        <Anchor href="/sign-in" target="_blank" size="sm" ta="center">
          {words.others}
        </Anchor>
        <DialogFooter>
          <Button variant="subtle" onClick={() => onFinish(false)}>
            {words.leave}
          </Button>
        </DialogFooter>
      </Stack>
    </Dialog>
  );
}

/** Looks for a sign-in in another tab whenever the user comes back from there. */
function useSignInElsewhere(onFinish: SignInDialogProps['onFinish']): void {
  const isChecking = useRef(false);
  const check = useEffectEvent(async () => {
    if (isChecking.current) return;
    isChecking.current = true;
    const isSame = await isSameUser().catch(() => null); // unreachable: the user can still sign in here
    isChecking.current = false;
    if (isSame !== null) onFinish(isSame);
  });
  useEffect(() => {
    const onFocus = () => void check();
    window.addEventListener('focus', onFocus);
    document.addEventListener('visibilitychange', onFocus);
    return () => {
      window.removeEventListener('focus', onFocus);
      document.removeEventListener('visibilitychange', onFocus);
    };
  }, []);
}

/** @throws if the browser did not keep the new session. The page stays, with what was entered. */
async function checkUser(): Promise<boolean> {
  const isSame = await isSameUser();
  if (isSame === null) throw new Error('The browser has no session after the sign-in.');
  return isSame;
}

function PasswordSignIn({ email, onFinish }: SignInDialogProps & { readonly email: string }) {
  const form = useCallForm({
    initialValues: { password: '' },
    call: async ({ password }) => {
      await trpc.auth.signIn.mutate({ email, password });
      return checkUser();
    },
    onSuccess: onFinish,
    onError: () => field.current?.select(),
  });
  const field = useRef<HTMLInputElement>(null);
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {form.failure !== undefined && <FailureAlert failure={form.failure} />}
        <Username email={email} />
        <PasswordInput
          {...form.field('password')}
          ref={field}
          label={texts.password}
          autoComplete="current-password"
          required
          data-autofocus
        />
        <Button type="submit" fullWidth loading={form.pending}>
          {publicTexts.signIn.submit}
        </Button>
      </Stack>
    </form>
  );
}
