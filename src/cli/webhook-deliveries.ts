import type { DeliveryPage } from '../resources/webhooks/webhooks.schema.ts';
import type { Line } from './output.ts';

type Delivery = DeliveryPage['deliveries'][number];
type Attempt = Delivery['attempts'][number];

/** Returns a page of deliveries as lines: one for each, followed by its attempts. */
export const deliveryLines = ({ deliveries, nextCursor }: DeliveryPage): readonly Line[] =>
  deliveries.length === 0
    ? ['There are no deliveries.']
    : [
        ...deliveries.flatMap((delivery) => [deliveryLine(delivery), ...delivery.attempts.map(attemptLine)]),
        ...(nextCursor === null ? [] : [`There are more: --cursor ${nextCursor}`]),
      ];

const deliveryLine = ({ deliveryId, createdAt, webhookId, type, state, reason, nextAttemptAt }: Delivery): Line => [
  deliveryId,
  createdAt,
  webhookId,
  type,
  state,
  nextAttemptAt && `next attempt ${nextAttemptAt}`,
  reason,
];

/** The answer is the text of a stranger: JSON quotes it. */
const attemptLine = ({ at, status, durationMs, error, answer }: Attempt): Line => [
  '', // indents it
  at,
  status === null ? (error ?? '-') : String(status),
  `${durationMs} ms`,
  answer && JSON.stringify(answer),
];
