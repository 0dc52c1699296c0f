import { Alert, Button, Code, CopyButton, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../messages/console.ts';
import type { Failure } from '../trpc.ts';

type FailureAlertProps = {
  readonly failure: Failure;
  readonly retry?: (() => void) | undefined;
  readonly retryLabel?: string;
  readonly children?: ReactNode;
  readonly onClose?: () => void;
};

/** Shows the problem document of a failed call with its request ID. Screen readers announce it. */
export const FailureAlert = ({ failure, retry, retryLabel = texts.retry, children, onClose }: FailureAlertProps) => (
  <Alert
    color="red"
    title={failure.title}
    role="alert"
    {...(onClose !== undefined && { withCloseButton: true, closeButtonLabel: texts.close, onClose })}
  >
    {failure.detail !== `${failure.title}.` && <Text size="sm">{failure.detail}</Text>}
    {children}
    {(retry !== undefined || failure.requestId !== null) && (
      <Group gap="xs" mt="xs">
        {retry !== undefined && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            {retryLabel}
          </Button>
        )}
        {failure.requestId !== null && <RequestId id={failure.requestId} />}
      </Group>
    )}
  </Alert>
);

const RequestId = ({ id }: { readonly id: string }) => (
  <Text size="xs" component="span" className="request-id">
    {texts.requestId} <Code className="request-id-code">{id}</Code>{' '}
    <CopyButton value={id}>
      {({ copied, copy }) => (
        <button type="button" className="link-button" onClick={copy} aria-label={texts.copyRequestId}>
          <span aria-live="polite">{copied ? texts.copied : texts.copy}</span>
        </button>
      )}
    </CopyButton>
  </Text>
);
