import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../messages/console.ts';
import { useCallForm } from './call-form.ts';
import { FailureAlert } from './failure-alert.tsx';
import { Done } from './link-page.tsx';
import { TextLink } from './links.tsx';
import { Page } from './page.tsx';

type RequestLinkProps = {
  readonly words: {
    readonly title: string;
    readonly explanation: string;
    readonly submit: string;
    readonly doneTitle: string;
    readonly done: (email: string) => string;
    readonly back: string;
  };
  readonly call: (values: { email: string }) => Promise<unknown>;
};

/** Requests an emailed link. The answer does not reveal whether the address has an account. */
export function RequestLink({ words, call }: RequestLinkProps) {
  const [sentTo, setSentTo] = useState<string>();
  const form = useCallForm({
    initialValues: { email: '' },
    call,
    onSuccess: (_output, { email }) => setSentTo(email),
  });
  const back = (
    <p className="card-foot">
      <TextLink to="/sign-in">{words.back}</TextLink>
    </p>
  );

  if (sentTo !== undefined) return <Done title={words.doneTitle} explanation={words.done(sentTo)} next={back} />;
  return (
    <Page title={words.title} explanation={words.explanation}>
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
            {words.submit}
          </Button>
        </Stack>
      </form>
      {back}
    </Page>
  );
}
