import { Badge, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { toFailure, trpc } from '../../trpc.ts';
import { reloadDeliveries } from './reload.ts';
import type { Delivery, TeamId } from './endpoints.ts';
import { useSubmission } from '../../components/submission.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { Name } from '../../components/name.tsx';
import { neutralizeLines } from '../../../messages/neutralize.ts';

const COLORS = { waiting: 'gray', sending: 'blue', delivered: 'teal', failed: 'red', skipped: 'gray' } as const;

type DeliveryRowProps = { readonly teamId: TeamId; readonly endpointId: string; readonly delivery: Delivery };

/** An event for an endpoint: its state, and each attempt with the start of the answer. */
export function DeliveryRow({ teamId, endpointId, delivery }: DeliveryRowProps) {
  const { deliveryId, type, state, reason, nextAttemptAt, createdAt, webhookId } = delivery;
  const { minute } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const replay = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.webhooks.replay.mutate({ teamId, endpointId, deliveryId }),
    onSuccess: async () => {
      await reloadDeliveries(queries);
      notify(words.replayed);
    },
  });
  const time = minute(createdAt);
  const isOver = state !== 'waiting' && state !== 'sending';
  return (
    <li className="row row-high">
      <div className={isOver ? 'row-head' : undefined}>
        <div className="row-text">
          <Group gap="xs">
            <Text fw={600} component="h2" className="wrap">
              {type}
            </Text>
            <Badge variant="light" color={COLORS[state]} tt="none">
              {words.states[state]}
            </Badge>
          </Group>
          <Text size="sm" c="dimmed" className="wrap">
            <time dateTime={createdAt}>{time}</time>
            {SEPARATOR}
            {webhookId}
            {nextAttemptAt !== null && SEPARATOR + words.next(minute(nextAttemptAt))}
          </Text>
          {reason !== null && (
            <Text size="sm" className="wrap">
              <Name>{reason}</Name>
            </Text>
          )}
        </div>
        {isOver && (
          <RowButton
            loading={replay.isPending}
            onClick={() => replay.submit()}
            aria-label={words.replayOf({ type, time })}
          >
            {words.replay}
          </RowButton>
        )}
      </div>
      {replay.error !== null && <FailureAlert failure={toFailure(replay.error)} onClose={replay.reset} />}
      {delivery.attempts.length > 0 && <Attempts delivery={delivery} />}
    </li>
  );
}

function Attempts({ delivery: { attempts, type } }: Pick<DeliveryRowProps, 'delivery'>) {
  const { minute } = useDates();
  return (
    <details className="webhook-attempts">
      <summary aria-label={`${words.attempts(attempts.length)}: ${type}`}>{words.attempts(attempts.length)}</summary>
      <ol aria-label={words.attemptsOf(type)}>
        {attempts.map(({ at, status, durationMs, error, answer }) => (
          <li key={at}>
            <time dateTime={at}>{minute(at)}</time>
            {SEPARATOR}
            {status === null ? <Name>{error}</Name> : words.status(status)}
            {SEPARATOR}
            {words.took(durationMs)}
            {answer !== null && answer !== '' && (
              // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, also by keyboard
              <pre className="webhook-answer" dir="auto" tabIndex={0} aria-label={words.answer}>
                {neutralizeLines(answer)}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}
