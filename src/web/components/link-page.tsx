import { Button, Stack } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { ButtonLink } from './links.tsx';
import { texts } from '../messages/console.ts';
import { publicTexts } from '../messages/public.ts';
import { toFailure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { Page } from './page.tsx';
import { useSubmission } from './submission.ts';

type LinkPageProps = {
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
export function LinkPage({ token, words, call, onDone, another, next }: LinkPageProps) {
  const mutation = useSubmission({ mutationFn: call, ...(onDone === undefined ? {} : { onSuccess: onDone }) });
  if (token === undefined) return <IncompleteLink />;
  if (mutation.isSuccess) return <Done title={words.doneTitle} explanation={words.done} next={next} />;
  return (
    <Page title={words.title} explanation={words.explanation}>
      <Stack gap="md">
        {mutation.error !== null && <FailureAlert failure={toFailure(mutation.error)} />}
        {mutation.error !== null && toFailure(mutation.error).code === 'link_invalid' && another}
        <Button size="md" fullWidth loading={mutation.isPending} onClick={() => mutation.submit(token)}>
          {words.submit}
        </Button>
      </Stack>
    </Page>
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
