import { Button, Divider, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, type KeyboardEvent } from 'react';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { proofTexts as words } from '../messages/proof.ts';
import { proveWithPasskey, supportsPasskeys } from '../passkeys.ts';
import { awaitLink, stopAwaitingLink } from '../proof-link.ts';
import { toFailure, query, trpc } from '../trpc.ts';
import { useCallForm } from './call-form.ts';
import { Dialog } from './dialog.tsx';
import { FailureAlert } from './failure-alert.tsx';
import { Username } from './new-password.tsx';
import { Placeholder } from './page.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { useSubmission } from './submission.ts';

type ProofDialogProps = { readonly onFinish: (isProven: boolean) => void };

// The dialog that is open below listens for Escape too, and must stay open.
const OWN_ESCAPE = { 'data-mantine-stop-propagation': 'true' };

const POLL_MS = 3000;

/** Asks the user to confirm who they are: by password, by passkey, or by signing in again with an emailed link. */
export function ProofDialog({ onFinish }: ProofDialogProps) {
  const link = useSubmission({
    isRepeatable: true,
    mutationFn: (email: string) => trpc.auth.emailSignInLink.mutate({ email }),
    onSuccess: (_sent, email) => awaitLink(email),
  });
  // The link signs in again, in this browser: the new session is proven.
  const proof = useQuery({ ...query('account.proof'), gcTime: 0, refetchInterval: link.isSuccess && POLL_MS });
  const email = proof.data?.email ?? null;
  const isProven = link.isSuccess && typeof proof.data?.provenUntil === 'string';
  const finish = useEffectEvent(() => onFinish(true));
  useEffect(() => {
    if (isProven) finish();
  }, [isProven]);
  useEffect(() => (link.isSuccess ? stopAwaitingLink : undefined), [link.isSuccess]);
  const cancel = () => onFinish(false);
  const closeOnEscape = ({ key }: KeyboardEvent) => key === 'Escape' && cancel();
  return (
    <Dialog
      onClose={cancel}
      title={words.title}
      onKeyDown={closeOnEscape}
      closeButtonProps={{ ...OWN_ESCAPE, 'aria-label': texts.close }}
    >
      <Stack gap="md">
        <Text>{words.explanation}</Text>
        {proof.error !== null && <FailureAlert failure={toFailure(proof.error)} />}
        {proof.isPending && <Placeholder rows={2} />}
        {proof.data?.hasPassword === true && <PasswordProof email={email} onFinish={onFinish} />}
        {proof.data?.hasPasskey === true && supportsPasskeys() && (
          <>
            {proof.data.hasPassword && <Divider label={publicTexts.signIn.or} />}
            <PasskeyButton {...OWN_ESCAPE} call={proveWithPasskey} onSuccess={() => onFinish(true)}>
              {words.passkey}
            </PasskeyButton>
          </>
        )}
        {link.error !== null && <FailureAlert failure={toFailure(link.error)} />}
        {link.isSuccess && (
          <Text size="sm" role="status">
            {words.linkSent}
          </Text>
        )}
        {email !== null && !link.isSuccess && (
          <Button {...OWN_ESCAPE} variant="subtle" loading={link.isPending} onClick={() => link.submit(email)}>
            {words.link}
          </Button>
        )}
      </Stack>
    </Dialog>
  );
}

function PasswordProof({ email, onFinish }: ProofDialogProps & { readonly email: string | null }) {
  const form = useCallForm({
    initialValues: { password: '' },
    call: (values) => trpc.account.prove.mutate(values),
    onSuccess: () => onFinish(true),
    fieldOf: { password_wrong: 'password' },
  });
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {form.failure !== undefined && <FailureAlert failure={form.failure} />}
        <Username email={email} />
        <PasswordInput
          {...form.field('password')}
          {...OWN_ESCAPE}
          label={texts.password}
          autoComplete="current-password"
          required
          data-autofocus
        />
        <Group justify="flex-end" gap="sm">
          <Button {...OWN_ESCAPE} variant="default" onClick={() => onFinish(false)}>
            {texts.cancel}
          </Button>
          <Button {...OWN_ESCAPE} type="submit" loading={form.pending}>
            {words.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
