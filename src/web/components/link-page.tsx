import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { ButtonLink } from './links.tsx';
import { texts } from '../messages/console.ts';
import { problemAdvice, problemTitles } from '../messages/problems.ts';
import { publicTexts } from '../messages/public.ts';
import { query, toFailure, type Inputs } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { Page, Placeholder } from './page.tsx';
import { useSubmission } from './submission.ts';

type CheckedLinkProps = Inputs['auth']['checkLink'] & {
  readonly title: string;
  /** The way to another link, if this one cannot be used. */
  readonly another: ReactNode;
  readonly children: ReactNode;
};

/**
 * Shows the page of a link once the service has said that the link can be used, which does not use it. If the service
 * does not answer, the page is shown too: it says what is wrong when it is submitted.
 */
export function CheckedLink({ purpose, token, title, another, children }: CheckedLinkProps) {
  const check = useQuery({ ...query('auth.checkLink', { purpose, token }), staleTime: Infinity });
  if (check.isPending) {
    return (
      <Page title={title}>
        <Placeholder rows={3} />
      </Page>
    );
  }
  if (check.data?.isUsable !== false) return children;
  const { verified } = check.data;
  if (verified !== undefined) {
    const { alreadyTitle, already } = publicTexts.verification;
    return (
      <Page title={alreadyTitle} explanation={already(verified)}>
        <ButtonLink to="/" size="md" fullWidth>
          {texts.toTeams}
        </ButtonLink>
      </Page>
    );
  }
  const { link_invalid: invalid } = problemTitles;
  return (
    <Page title={title}>
      <FailureAlert
        failure={{
          title: invalid,
          detail: problemAdvice.link_invalid,
          code: 'link_invalid',
          requestId: null,
          errors: [],
        }}
      />
      {another}
    </Page>
  );
}

type LinkPageProps = {
  readonly purpose: Inputs['auth']['checkLink']['purpose'];
  readonly token: string | undefined;
  readonly words: {
    readonly title: string;
    readonly explanation: string;
    readonly submit: string;
    readonly doneTitle: string;
    readonly done: string;
  };
  readonly call: (token: string) => Promise<unknown>;
  readonly onDone?: () => void;
  /** Shown if the link is invalid. */
  readonly another: ReactNode;
  /** The next step after success. */
  readonly next: ReactNode;
};

/** The page of an emailed link. Mail scanners open links, so only the button changes data. */
export function LinkPage({ purpose, token, words, call, onDone, another, next }: LinkPageProps) {
  const mutation = useSubmission({ mutationFn: call, ...(onDone === undefined ? {} : { onSuccess: onDone }) });
  if (token === undefined) return <IncompleteLink />;
  if (mutation.isSuccess) return <Done title={words.doneTitle} explanation={words.done} next={next} />;
  return (
    <CheckedLink purpose={purpose} token={token} title={words.title} another={another}>
      <Page title={words.title} explanation={words.explanation}>
        <Stack gap="md">
          {mutation.error !== null && <FailureAlert failure={toFailure(mutation.error)} />}
          {mutation.error !== null && toFailure(mutation.error).code === 'link_invalid' && another}
          <Button size="md" fullWidth loading={mutation.isPending} onClick={() => mutation.submit(token)}>
            {words.submit}
          </Button>
        </Stack>
      </Page>
    </CheckedLink>
  );
}

/** The result of a page’s task. Its heading is focused, so that screen readers announce it. */
export function Done({
  title,
  explanation,
  next,
}: {
  readonly title: string;
  readonly explanation: string;
  readonly next: ReactNode;
}) {
  useEffect(() => document.querySelector('h1')?.focus(), []);
  return (
    <Page key="done" title={title} explanation={explanation}>
      {next}
    </Page>
  );
}

export const IncompleteLink = () => (
  <Page title={publicTexts.link.incompleteTitle} explanation={publicTexts.link.incomplete}>
    <ButtonLink to="/sign-in" variant="default" size="md">
      {texts.toSignIn}
    </ButtonLink>
  </Page>
);
