import type { Invited } from '#client/react';
import { Badge, Button, Code, CopyButton, Text } from '@mantine/core';
import { faultText } from '../../../components/call-form.ts';
import { texts } from '../../../messages/console.ts';
import { invitationsTexts } from '../../../messages/invitations.ts';
import { toFailure } from '../../../trpc.ts';
import { Name } from '../../../components/name.tsx';

const words = invitationsTexts.dialog;

export const Results = ({ results }: { readonly results: readonly Invited[] }) => (
  // A long list scrolls, so it needs to be focusable by keyboard.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <ul className="rows invite-results" aria-label={words.results} tabIndex={0}>
    {results.map((result) => (
      <li key={result.email} className="row">
        <div className="row-text">
          <Text size="sm" fw={600} className="wrap">
            <Name>{result.email}</Name>
          </Text>
          {result.state === 'failed' && <Reason error={result.error} />}
        </div>
        <Outcome result={result} />
      </li>
    ))}
  </ul>
);

function Outcome({ result }: { readonly result: Invited }) {
  if (result.state === 'sent') {
    return (
      <>
        <Badge variant="light" color="teal" tt="none">
          {words.sent}
        </Badge>
        <CopyButton value={result.link}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy} aria-label={words.copyOf(result.email)}>
              <span aria-live="polite">{copied ? texts.copied : words.copy}</span>
            </Button>
          )}
        </CopyButton>
      </>
    );
  }
  if (result.state === 'failed') {
    return (
      <Badge variant="light" color="red" tt="none">
        {words.failed}
      </Badge>
    );
  }
  return (
    <Text size="sm" c="dimmed">
      {words[result.state]}
    </Text>
  );
}

/** Returns the text of the email’s fault, or of the problem with its request ID. */
function Reason({ error }: { readonly error: unknown }) {
  const failure = toFailure(error);
  const fault = failure.errors.find(({ pointer }) => pointer === '/email');
  return (
    <Text size="sm" c="red" className="wrap">
      {fault === undefined ? failure.detail : faultText(fault)}
      {fault === undefined && failure.requestId !== null && (
        <Text span size="xs" c="dimmed" className="wrap">
          {' '}
          {texts.requestId} <Code className="request-id-code">{failure.requestId}</Code>
        </Text>
      )}
    </Text>
  );
}
