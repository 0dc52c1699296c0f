import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { DevelopmentMail } from '../components/development-mail.tsx';
import { FailureAlert } from '../components/failure-alert.tsx';
import { ButtonLink } from '../components/links.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { useSignOut } from '../components/sign-out.ts';
import { me } from '../session.ts';
import { isSignedOut, query, toFailure } from '../trpc.ts';

const words = publicTexts.signUp;

/** Shown to the browser that signed up until the email is verified. */
export function CheckEmail() {
  const signUp = useQuery(query('auth.pendingSignUp'));
  const signOut = useSignOut();
  if (signUp.error !== null) {
    return (
      <Page title={words.sentTitle}>
        <FailureAlert failure={toFailure(signUp.error)} />
      </Page>
    );
  }
  if (signUp.data === undefined) {
    return (
      <Page title={words.sentTitle}>
        <Placeholder rows={2} />
      </Page>
    );
  }
  if (signUp.data === null) {
    return <Verified />;
  }
  return (
    <Page title={words.sentTitle} explanation={words.sentTo(signUp.data.email)}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {words.sentHint}
        </Text>
        <ResendVerification email={signUp.data.email} />
        <DevelopmentMail />
        <Button variant="subtle" loading={signOut.isPending} onClick={() => signOut.submit()}>
          {texts.header.signOut}
        </Button>
      </Stack>
    </Page>
  );
}

/** Shown once the email is verified, in this browser or another window of it. Others are sent to the sign-in. */
function Verified() {
  const account = useQuery(me());
  if (account.error !== null && isSignedOut(account.error)) return <Navigate to="/sign-in" replace />;
  if (account.data === undefined) {
    return (
      <Page title={words.sentTitle}>
        {account.error === null ? <Placeholder rows={2} /> : <FailureAlert failure={toFailure(account.error)} />}
      </Page>
    );
  }
  return (
    <Page title={publicTexts.verification.doneTitle} explanation={publicTexts.verification.done}>
      <ButtonLink to="/" size="md">
        {texts.toTeams}
      </ButtonLink>
    </Page>
  );
}
