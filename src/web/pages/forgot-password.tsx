import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { TextLink } from '../components/links.tsx';
import { useCallForm } from '../components/call-form.ts';
import { FailureAlert } from '../components/failure-alert.tsx';
import { Done } from '../components/link-page.tsx';
import { Page } from '../components/page.tsx';
import { texts } from '../messages/console.ts';
import { trpc } from '../trpc.ts';

export function ForgotPassword() {
  const [sentTo, setSentTo] = useState<string>();
  const form = useCallForm({
    initialValues: { email: '' },
    call: (values) => trpc.auth.forgotPassword.mutate(values),
    onSuccess: (_output, { email }) => setSentTo(email),
  });

  if (sentTo !== undefined)
    return <Done title={texts.forgot.doneTitle} explanation={texts.forgot.done(sentTo)} next={<Back />} />;
  return (
    <Page title={texts.forgot.title} explanation={texts.forgot.explanation}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput
            {...form.field('email')}
            type="email"
            label={texts.email}
            autoComplete="username"
            required
            autoFocus
          />
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {texts.forgot.submit}
          </Button>
        </Stack>
      </form>
      <Back />
    </Page>
  );
}

const Back = () => (
  <p className="card-foot">
    <TextLink to="/sign-in">{texts.forgot.back}</TextLink>
  </p>
);
