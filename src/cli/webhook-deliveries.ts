import type { DeliveryPage } from '../resources/webhooks/webhooks.schema.ts';

type Delivery = DeliveryPage['deliveries'][number];
type Attempt = Delivery['attempts'][number];

/** Returns a page of deliveries as text: a line for each, followed by its attempts. */
export const deliveryLines = ({ deliveries, nextCursor }: DeliveryPage): string[] =>
  deliveries.length === 0
    ? ['There are no deliveries.']
    : [
        ...deliveries.flatMap((delivery) => [deliveryLine(delivery), ...delivery.attempts.map(attemptLine)]),
        ...(nextCursor === null ? [] : [`There are more: --cursor ${nextCursor}`]),
      ];

const deliveryLine = ({ deliveryId, createdAt, webhookId, type, state, reason, nextAttemptAt }: Delivery): string =>
  [deliveryId, createdAt, webhookId, type, state, nextAttemptAt && `next attempt ${nextAttemptAt}`, reason]
    .filter(Boolean)
    .join('  ');

const attemptLine = ({ at, status, durationMs, error, answer }: Attempt): string =>
  [`  ${at}`, status ?? visible(error ?? '-'), `${durationMs} ms`, answer && visible(JSON.stringify(answer))]
    .filter(Boolean)
    .join('  ');

/** Replaces what a terminal would obey or not show: an answer is the text of a stranger. */
const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
