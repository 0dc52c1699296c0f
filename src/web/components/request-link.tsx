import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { findAuthorizationId } from '../session.ts';
import { useCallForm } from './call-form.ts';
import { FailureAlert } from './failure-alert.tsx';
import { ForApplication } from './for-application.tsx';
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
  /** The page to which the user wants; the link continues the request of an application there. */
  readonly next: string | undefined;
  readonly call: (values: { email: string; authorizationId: string | undefined }) => Promise<unknown>;
};

/** Requests an emailed link. The answer does not reveal whether the address has an account. */
export function RequestLink({ words, next, call }: RequestLinkProps) {
  const [sentTo, setSentTo] = useState<string>();
  const authorizationId = findAuthorizationId(next);
  const form = useCallForm({
    initialValues: { email: '' },
    call: ({ email }) => call({ email, authorizationId }),
    onSuccess: (_output, { email }) => setSentTo(email),
  });
  const back = (
    <p className="card-foot">
      <TextLink to="/sign-in" search={next === undefined ? {} : { next }}>
        {words.back}
      </TextLink>
    </p>
  );

  if (sentTo !== undefined) return <Done title={words.doneTitle} explanation={words.done(sentTo)} next={back} />;
  return (
    <Page
      title={words.title}
      explanation={
        <>
          {words.explanation}
          {authorizationId !== undefined && (
            <>
              <br />
              <ForApplication authorizationId={authorizationId} words={publicTexts.application.later} />
            </>
          )}
        </>
      }
    >
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
