import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { ContinueTo, ThenTo } from '../components/continue-to.tsx';
import { FailureAlert } from '../components/failure-alert.tsx';
import { Done, IncompleteLink } from '../components/link-page.tsx';
import { ButtonLink, TextLink } from '../components/links.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { useSubmission } from '../components/submission.ts';
import { texts } from '../messages/console.ts';
import { proofTexts } from '../messages/proof.ts';
import { publicTexts } from '../messages/public.ts';
import { findAsker, returnTo, stopAwaitingLink } from '../proof-link.ts';
import { useSessionReset, useSessionStart } from '../session.ts';
import { toFailure, query, trpc } from '../trpc.ts';

const words = publicTexts.signInLink;

export function SignInLink() {
  const { token } = useSearch({ from: '/public/sign-in-link' });
  return token === undefined ? <IncompleteLink /> : <Link token={token} />;
}

/** Reading the link changes nothing: mail scanners open links. Only the button signs in. */
function Link({ token }: { readonly token: string }) {
  const link = useQuery({ ...query('auth.readSignInLink', { token }), staleTime: Infinity });
  const start = useSessionStart();
  const reset = useSessionReset();
  const signIn = useSubmission({
    mutationFn: async (email: string) => {
      // Before the sign-in, after which the page that waits goes on.
      const asker = findAsker(email);
      const { continueTo } = await trpc.auth.signInWithLink.mutate({ token });
      // A link that an application led to is not the one for which a page waits.
      return { asker: continueTo === undefined ? asker : undefined, application: continueTo };
    },
    onSuccess: ({ asker, application }) => {
      if (asker === 'another tab' || application !== undefined) return reset();
      stopAwaitingLink();
      return start(asker === undefined ? '/' : returnTo(asker));
    },
  });
  const error = signIn.error ?? link.error;

  if (signIn.data?.asker === 'another tab') {
    return (
      <Done
        title={proofTexts.linkUsedTitle}
        explanation={proofTexts.linkUsed}
        next={
          <ButtonLink to="/" variant="default" size="md">
            {texts.toTeams}
          </ButtonLink>
        }
      />
    );
  }
  if (signIn.data?.application !== undefined) {
    return (
      <Done
        title={words.title}
        explanation={publicTexts.verification.done}
        next={<ContinueTo application={signIn.data.application} />}
      />
    );
  }
  if (error !== null) {
    return (
      <Page title={words.title}>
        <Stack gap="md">
          <FailureAlert failure={toFailure(error)} />
          <p className="card-foot">
            <TextLink to="/email-sign-in">{words.another}</TextLink>
          </p>
        </Stack>
      </Page>
    );
  }
  if (link.data === undefined) {
    return (
      <Page title={words.title}>
        <Placeholder rows={2} />
      </Page>
    );
  }
  return (
    <Page title={words.title} explanation={words.explanation(link.data.email)}>
      <Stack gap="md">
        <ThenTo application={link.data.application} />
        <Button size="md" fullWidth loading={signIn.isPending} onClick={() => signIn.submit(link.data.email)}>
          {words.submit}
        </Button>
      </Stack>
    </Page>
  );
}
