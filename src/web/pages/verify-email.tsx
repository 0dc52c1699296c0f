import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ContinueTo, ThenTo } from '../components/continue-to.tsx';
import { useCallForm } from '../components/call-form.ts';
import { FailureAlert } from '../components/failure-alert.tsx';
import { ButtonLink, TextLink } from '../components/links.tsx';
import { Done, IncompleteLink } from '../components/link-page.tsx';
import { NewPassword, Username } from '../components/new-password.tsx';
import { Page, Placeholder } from '../components/page.tsx';
import { PasskeyButton } from '../components/passkey-button.tsx';
import { RemainingAccess } from '../components/remaining-access.tsx';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { signInWithPasskey } from '../passkeys.ts';
import { useSessionReset } from '../session.ts';
import { toFailure, query, trpc, type Outputs } from '../trpc.ts';

const words = publicTexts.verification;

export function VerifyEmail() {
  const { token } = useSearch({ from: '/public/verify-email' });
  return token === undefined ? <IncompleteLink /> : <Verification token={token} />;
}

/** Reading the link changes nothing: mail scanners open links. */
function Verification({ token }: { readonly token: string }) {
  const link = useQuery({ ...query('auth.readVerification', { token }), staleTime: Infinity });
  const resetSession = useSessionReset();
  const [done, setDone] = useState<Used>();
  const onDone = (used: Used) => {
    resetSession();
    setDone(used);
  };

  if (done !== undefined) {
    const { continueTo, remaining } = done;
    const next = (
      <Stack gap="lg">
        {remaining && <RemainingAccess {...remaining} />}
        {continueTo ? (
          <ContinueTo application={continueTo} isAtOnce={remaining === undefined} />
        ) : (
          <ButtonLink to="/" size="md" fullWidth>
            {texts.toTeams}
          </ButtonLink>
        )}
      </Stack>
    );
    return <Done title={words.doneTitle} explanation={words.done} next={next} />;
  }
  if (link.error !== null) {
    return (
      <Page title={words.title}>
        <FailureAlert failure={toFailure(link.error)}>
          {toFailure(link.error).code === 'link_invalid' && (
            <TextLink to="/sign-in" size="sm">
              {publicTexts.link.toVerification}
            </TextLink>
          )}
        </FailureAlert>
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
  if (link.data.isVerified) {
    return (
      <Page title={words.alreadyTitle} explanation={words.already(link.data.email)}>
        <ButtonLink to="/" size="md" fullWidth>
          {texts.toTeams}
        </ButtonLink>
      </Page>
    );
  }
  const Form = !link.data.needsPassword ? InSameBrowser : link.data.isMoved ? MovedAccount : WithPassword;
  return <Form token={token} {...link.data} onDone={onDone} />;
}

type Used = Outputs['auth']['verifyEmail'];

type FormProps = {
  readonly token: string;
  readonly email: string;
  readonly application?: string | undefined;
  readonly onDone: (used: Used) => void;
};

function InSameBrowser({ token, email, application, onDone }: FormProps) {
  const form = useCallForm({
    initialValues: {},
    call: () => trpc.auth.verifyEmail.mutate({ token }),
    onSuccess: onDone,
  });
  return (
    <Page title={words.title} explanation={words.explanation(email)}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <ThenTo application={application} />
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {words.submit}
          </Button>
        </Stack>
      </form>
    </Page>
  );
}

/** Asks for the password of the sign-up, because another person could have signed up in the other browser. */
function WithPassword({ token, email, application, onDone }: FormProps) {
  const [isNew, setNew] = useState(false);
  const form = useCallForm({
    initialValues: { password: '', newPassword: '' },
    call: ({ password, newPassword }) =>
      trpc.auth.verifyEmail.mutate({ token, ...(isNew ? { newPassword } : { password }) }),
    onSuccess: onDone,
    fieldOf: { password_wrong: 'password' },
  });
  return (
    <Page title={words.title} explanation={isNew ? words.choose(email) : words.enter(email)}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <ThenTo application={application} />
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <Username email={email} />
          {isNew ? (
            <NewPassword {...form.field('newPassword')} autoFocus />
          ) : (
            <PasswordInput
              {...form.field('password')}
              label={texts.password}
              autoComplete="current-password"
              required
              autoFocus
            />
          )}
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {words.submit}
          </Button>
          <Button variant="subtle" onClick={() => setNew(!isNew)}>
            {isNew ? words.toPassword : words.toNewPassword}
          </Button>
        </Stack>
      </form>
    </Page>
  );
}

/** Asks for the password or a passkey of the account that the operator moved to the address, or offers one of one's own. */
function MovedAccount({ token, email, application, onDone }: FormProps) {
  const [isOwn, setOwn] = useState(false);
  const policy = useQuery(query('auth.policy'));
  const form = useCallForm({
    initialValues: { password: '', ownAccountPassword: '' },
    call: ({ password, ownAccountPassword }) =>
      trpc.auth.verifyEmail.mutate({ token, ...(isOwn ? { ownAccountPassword } : { password }) }),
    onSuccess: onDone,
    fieldOf: { password_wrong: 'password' },
  });
  return (
    <Page title={words.title} explanation={isOwn ? words.ownAccount(email) : words.moved(email)}>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          <ThenTo application={application} />
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <Username email={email} />
          {isOwn ? (
            <NewPassword {...form.field('ownAccountPassword')} autoFocus />
          ) : (
            <PasswordInput
              {...form.field('password')}
              label={texts.password}
              autoComplete="current-password"
              required
              autoFocus
            />
          )}
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {isOwn ? words.createOwn : words.submit}
          </Button>
          {!isOwn && (
            <PasskeyButton
              size="md"
              call={async () => {
                await signInWithPasskey();
                return trpc.auth.verifyEmail.mutate({ token });
              }}
              onSuccess={onDone}
            >
              {publicTexts.signIn.passkey}
            </PasskeyButton>
          )}
          <Text size="sm">{words.askOperator}</Text>
          {policy.data?.signup === 'open' && (
            <Button variant="subtle" onClick={() => setOwn(!isOwn)}>
              {isOwn ? words.toMoved : words.toOwn}
            </Button>
          )}
        </Stack>
      </form>
    </Page>
  );
}
