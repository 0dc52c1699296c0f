import { Alert, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';
import { ForApplication } from '../components/for-application.tsx';
import { TextLink } from '../components/links.tsx';
import { useCallForm } from '../components/call-form.ts';
import { FailureAlert } from '../components/failure-alert.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyButton } from '../components/passkey-button.tsx';
import { ResendVerification } from '../components/resend-verification.tsx';
import { offerPasskeys, signInWithPasskey } from '../passkeys.ts';
import { findAuthorizationId, findLoginHint, me, useSessionStart } from '../session.ts';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { query, trpc } from '../trpc.ts';

export function SignIn() {
  const { next, ended } = useSearch({ from: '/public/sign-in' });
  // Whoever comes from an application goes back to it on each of these ways.
  const authorizationId = findAuthorizationId(next);
  const onward = authorizationId === undefined || next === undefined ? {} : { next };
  const hint = findLoginHint(next);
  const start = useSessionStart();
  const passwordField = useRef<HTMLInputElement>(null);
  const policy = useQuery(query('auth.policy'));
  const { data: person } = useQuery({ ...me(), retry: false });
  const form = useCallForm({
    initialValues: { email: hint, password: '' },
    call: (values) => trpc.auth.signIn.mutate(values),
    onSuccess: () => start(next),
    onError: () => passwordField.current?.select(),
  });
  const endOffer = useRef<() => void>(undefined);
  const signedIn = useEffectEvent(() => start(next));
  useEffect(() => {
    endOffer.current = offerPasskeys(() => signedIn());
    return endOffer.current;
  }, []);

  return (
    <Page
      title={publicTexts.signIn.title}
      explanation={
        authorizationId && <ForApplication authorizationId={authorizationId} words={publicTexts.application.signIn} />
      }
    >
      {ended && person === undefined && (
        <Alert color="yellow" title={publicTexts.signIn.endedTitle} role="alert">
          {publicTexts.signIn.ended}
        </Alert>
      )}
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && (
            <FailureAlert failure={form.failure}>
              {form.failure.code === 'email_not_verified' && (
                <ResendVerification email={form.values().email} next={next} />
              )}
            </FailureAlert>
          )}
          <TextInput
            {...form.field('email')}
            type="email"
            label={texts.email}
            autoComplete="username webauthn"
            required
            autoFocus={hint === ''}
          />
          <PasswordInput
            {...form.field('password')}
            ref={passwordField}
            label={texts.password}
            autoComplete="current-password"
            required
            autoFocus={hint !== ''}
          />
          <Button type="submit" size="md" fullWidth loading={form.pending}>
            {publicTexts.signIn.submit}
          </Button>
          <Text size="sm" ta="center">
            <TextLink to="/forgot-password" search={onward}>
              {publicTexts.signIn.forgot}
            </TextLink>
            {' · '}
            <TextLink to="/email-sign-in" search={onward}>
              {publicTexts.signIn.emailLink}
            </TextLink>
          </Text>
        </Stack>
      </form>
      <Divider label={publicTexts.signIn.or} />
      <PasskeyButton
        size="md"
        call={() => {
          endOffer.current?.();
          return signInWithPasskey();
        }}
        onSuccess={() => start(next)}
      >
        {publicTexts.signIn.passkey}
      </PasskeyButton>
      {/* The line keeps its height while the policy is loading. */}
      <p className="card-foot">
        {policy.data?.signup === 'open' ? (
          <>
            {publicTexts.signIn.newHere}{' '}
            <TextLink to="/sign-up" search={onward}>
              {publicTexts.signIn.signUp}
            </TextLink>
          </>
        ) : (
          '\u00a0'
        )}
      </p>
      {/* Last, because it is known after the form is shown, which must not move. */}
      {person !== undefined && (
        <Alert color="blue" title={publicTexts.signIn.alreadyTitle(person.email ?? person.id)}>
          <Text size="sm">{publicTexts.signIn.already}</Text>
          <Button size="sm" mt="sm" onClick={() => start(next)}>
            {publicTexts.signIn.proceed}
          </Button>
        </Alert>
      )}
    </Page>
  );
}
