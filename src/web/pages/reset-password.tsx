import { Button, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ButtonLink, TextLink } from '../components/links.tsx';
import { useCallForm } from '../components/call-form.ts';
import { ContinueTo } from '../components/continue-to.tsx';
import { FailureAlert } from '../components/failure-alert.tsx';
import { CheckedLink, Done, IncompleteLink } from '../components/link-page.tsx';
import { NewPassword } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { RemainingAccess } from '../components/remaining-access.tsx';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { trpc, type Outputs } from '../trpc.ts';

export function ResetPassword() {
  const { token } = useSearch({ from: '/public/reset-password' });
  const queries = useQueryClient();
  const [done, setDone] = useState<Outputs['auth']['resetPassword']>();
  const form = useCallForm({
    initialValues: { password: '' },
    call: ({ password }) => trpc.auth.resetPassword.mutate({ token: token ?? '', password }),
    onSuccess: (output) => {
      queries.clear();
      setDone(output);
    },
  });

  if (token === undefined) return <IncompleteLink />;
  if (done !== undefined) {
    const next = (
      <Stack gap="lg">
        <RemainingAccess {...done} />
        {done.continueTo === undefined ? (
          <ButtonLink to="/sign-in" size="md" fullWidth>
            {texts.toSignIn}
          </ButtonLink>
        ) : (
          <ContinueTo application={done.continueTo} isAtOnce={false} />
        )}
      </Stack>
    );
    return <Done title={publicTexts.reset.doneTitle} explanation={publicTexts.reset.done} next={next} />;
  }
  const another = (
    <TextLink to="/forgot-password" size="sm">
      {publicTexts.link.toForgot}
    </TextLink>
  );
  return (
    <CheckedLink purpose="reset_password" token={token} title={publicTexts.reset.title} another={another}>
      <Page title={publicTexts.reset.title} explanation={publicTexts.reset.explanation}>
        <form onSubmit={form.submit} noValidate>
          <Stack gap="md">
            {form.failure !== undefined && (
              <FailureAlert failure={form.failure}>{form.failure.code === 'link_invalid' && another}</FailureAlert>
            )}
            <NewPassword {...form.field('password')} autoFocus />
            <Button type="submit" size="md" fullWidth loading={form.pending}>
              {publicTexts.reset.submit}
            </Button>
          </Stack>
        </form>
      </Page>
    </CheckedLink>
  );
}
