import { Button, Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { FailureAlert } from '../components/failure-alert.tsx';
import { ButtonLink } from '../components/links.tsx';
import { Done } from '../components/link-page.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { useSubmission } from '../components/submission.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { me } from '../session.ts';
import { isSignedOut, toFailure, trpc } from '../trpc.ts';

const words = publicTexts.signOut;

/** Asks whether to sign out, because an application wants it and has not proved that the user does. */
export function SignOut() {
  const search = useSearch({ from: '/public/sign-out' });
  const queries = useQueryClient();
  const { data: person, error } = useQuery({ ...me(), retry: false });
  const signOut = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.auth.signOut.mutate(),
    onSuccess: () => {
      if (search.post_logout_redirect_uri === undefined) void queries.resetQueries();
      // The service checks where to go, as at first.
      else window.location.assign(`/oauth/logout?${new URLSearchParams(search).toString()}`);
    },
  });

  if (error !== null && isSignedOut(error)) {
    return (
      <Done
        title={words.doneTitle}
        explanation={words.done}
        next={
          <ButtonLink to="/sign-in" variant="default" size="md">
            {texts.toSignIn}
          </ButtonLink>
        }
      />
    );
  }
  const failure = signOut.error ?? error;
  return (
    <Page title={words.title} explanation={person && words.explanation(person.email ?? person.id)}>
      {failure !== null && <FailureAlert failure={toFailure(failure)} />}
      {person === undefined && error === null && <Placeholder rows={2} />}
      {person !== undefined && (
        <Group gap="sm">
          <ButtonLink to="/" variant="default" size="md">
            {words.stay}
          </ButtonLink>
          <Button size="md" loading={signOut.isPending || signOut.isSuccess} onClick={() => signOut.submit()}>
            {words.submit}
          </Button>
        </Group>
      )}
    </Page>
  );
}
