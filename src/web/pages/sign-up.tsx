import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ButtonLink, TextLink } from '../components/links.tsx';
import { ContinueTo, ThenTo } from '../components/continue-to.tsx';
import { ForApplication } from '../components/for-application.tsx';
import { useCallForm } from '../components/call-form.ts';
import { DevelopmentMail } from '../components/development-mail.tsx';
import { FailureAlert } from '../components/failure-alert.tsx';
import { Done } from '../components/link-page.tsx';
import { NewPassword } from '../components/new-password.tsx';
import { useNotice } from '../components/notices.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { findAuthorizationId, findLoginHint, useSessionStart } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure, query, trpc, type Outputs } from '../trpc.ts';

type Invited = {
  readonly token: string;
  readonly email: string;
  readonly teamName: string;
  /** Whether the invitation link also verifies the email, so that the account joins immediately. */
  readonly provesMailbox: boolean;
  readonly application?: string | undefined;
};

type Application = NonNullable<Outputs['auth']['signUp']['continueTo']>;

const createInvitationPath = ({ token }: Invited) => `/invitation?token=${encodeURIComponent(token)}`;

export function SignUp() {
  const { invitation: token, next } = useSearch({ from: '/public/sign-up' });
  const policy = useQuery(query('auth.policy'));
  const invitation = useQuery({ ...query('invitations.read', { token: token ?? '' }), enabled: token !== undefined });
  const [sentTo, setSentTo] = useState<string>();
  const [joined, setJoined] = useState<Application>();

  const invited = token === undefined || invitation.data === undefined ? null : { token, ...invitation.data };
  if (joined !== undefined && invited !== null) {
    const title = publicTexts.invitation.accepted(invited.teamName);
    return (
      <Done title={title} explanation={publicTexts.verification.done} next={<ContinueTo application={joined} />} />
    );
  }
  if (sentTo !== undefined) return <Sent email={sentTo} invited={invited} next={next} />;
  const error = policy.error ?? invitation.error;
  if (error !== null) {
    return (
      <Page title={publicTexts.signUp.title}>
        <FailureAlert failure={toFailure(error)} />
      </Page>
    );
  }
  if (policy.data === undefined || (token !== undefined && invitation.data === undefined)) {
    return (
      <Page title={publicTexts.signUp.title}>
        <Placeholder rows={4} height={64} />
      </Page>
    );
  }
  const { signup } = policy.data;
  if (signup === 'closed' || (signup === 'invited' && token === undefined)) {
    return (
      <Page title={publicTexts.signUp.closedTitle} explanation={publicTexts.signUp.closedDetail}>
        <ButtonLink to="/sign-in" variant="default" size="md">
          {texts.toSignIn}
        </ButtonLink>
      </Page>
    );
  }
  return <SignUpForm invited={invited} onSent={setSentTo} onJoined={setJoined} />;
}

function SignUpForm({
  invited,
  onSent,
  onJoined,
}: {
  readonly invited: Invited | null;
  readonly onSent: (email: string) => void;
  readonly onJoined: (application: Application) => void;
}) {
  const { next } = useSearch({ from: '/public/sign-up' });
  const start = useSessionStart();
  const notify = useNotice();
  const authorizationId = findAuthorizationId(next);
  const form = useCallForm({
    initialValues: { email: invited?.email ?? findLoginHint(next), password: '', firstName: '', lastName: '' },
    call: ({ email, password, firstName, lastName }) =>
      trpc.auth.signUp.mutate({
        email,
        password,
        ...(firstName === '' ? {} : { firstName }),
        ...(lastName === '' ? {} : { lastName }),
        ...(invited === null ? {} : { invitationToken: invited.token }),
        authorizationId,
      }),
    onSuccess: ({ signedIn, continueTo }, { email }) => {
      if (!signedIn) {
        onSent(email);
        return;
      }
      if (continueTo !== undefined) {
        onJoined(continueTo);
        return;
      }
      start(next ?? '/');
      if (invited !== null) notify(publicTexts.signUp.joined(invited.teamName));
    },
  });

  return (
    <Page
      title={publicTexts.signUp.title}
      explanation={
        authorizationId && <ForApplication authorizationId={authorizationId} words={publicTexts.application.signUp} />
      }
    >
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {invited !== null && (
            <Alert color="blue">
              {invited.provesMailbox
                ? publicTexts.signUp.joining(invited.teamName)
                : publicTexts.signUp.verifying({ team: invited.teamName, email: invited.email })}
            </Alert>
          )}
          {invited?.provesMailbox && <ThenTo application={invited.application} />}
          {form.failure !== undefined && (
            <FailureAlert failure={form.failure}>
              {form.failure.code === 'account_exists' && invited !== null && (
                <TextLink to="/sign-in" search={{ next: createInvitationPath(invited) }} size="sm">
                  {texts.toSignIn}
                </TextLink>
              )}
            </FailureAlert>
          )}
          <TextInput
            {...form.field('email')}
            type="email"
            label={texts.email}
            autoComplete="username"
            readOnly={invited !== null}
            required
            autoFocus={invited === null}
          />
          <NewPassword {...form.field('password')} label={texts.password} autoFocus={invited !== null} />
          <TextInput {...form.field('firstName')} label={texts.optional(texts.firstName)} autoComplete="given-name" />
          <TextInput {...form.field('lastName')} label={texts.optional(texts.lastName)} autoComplete="family-name" />
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {publicTexts.signUp.submit}
          </Button>
        </Stack>
      </form>
      <p className="card-foot">
        {publicTexts.signUp.haveAccount}{' '}
        <TextLink
          to="/sign-in"
          search={invited === null ? (next === undefined ? {} : { next }) : { next: createInvitationPath(invited) }}
        >
          {publicTexts.signUp.signIn}
        </TextLink>
      </p>
    </Page>
  );
}

type SentProps = {
  readonly email: string;
  readonly invited: Invited | null;
  readonly next: string | undefined;
};

const Sent = ({ email, invited, next }: SentProps) => (
  <Done
    title={publicTexts.signUp.sentTitle}
    explanation={
      invited === null
        ? publicTexts.signUp.sentTo(email)
        : publicTexts.signUp.sentToInvited({ email, team: invited.teamName })
    }
    next={
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {publicTexts.signUp.sentHint}
        </Text>
        <ResendVerification email={email} next={next} />
        <DevelopmentMail />
        <p className="card-foot">
          {invited === null ? (
            <TextLink to="/sign-in" search={next === undefined ? {} : { next }}>
              {texts.toSignIn}
            </TextLink>
          ) : (
            <TextLink to="/invitation" search={{ token: invited.token }}>
              {publicTexts.signUp.toInvitation}
            </TextLink>
          )}
        </p>
      </Stack>
    }
  />
);
