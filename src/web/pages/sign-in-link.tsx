import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { FailureAlert } from '../components/failure-alert.tsx';
import { IncompleteLink } from '../components/link-page.tsx';
import { TextLink } from '../components/links.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { useSubmission } from '../components/submission.ts';
import { publicTexts } from '../messages/public.ts';
import { useSessionStart } from '../session.ts';
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
  const signIn = useSubmission({
    mutationFn: () => trpc.auth.signInWithLink.mutate({ token }),
    onSuccess: () => start('/'),
  });
  const error = signIn.error ?? link.error;

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
      <Button size="md" fullWidth loading={signIn.isPending} onClick={() => signIn.submit()}>
        {words.submit}
      </Button>
    </Page>
  );
}
