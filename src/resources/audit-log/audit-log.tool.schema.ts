import { z } from 'zod';
import { auditEventOutput, listAuditInput, type presentEvent } from './audit-log.schema.ts';

/** The most events in one answer, so that it stays within what a model can read. */
const LIMIT_MAX = 50;

const { kind, person, key, from, to, cursor } = listAuditInput.shape;

/** The filters of the console. An address is none, because a match would reveal it. */
export const auditToolInput = {
  kind: kind.meta({ description: 'The part of the event name before the dot.' }),
  person: person.meta({ description: 'The user who acted.' }),
  key: key.meta({ description: 'The API key that was used.' }),
  from: from.meta({ description: 'The earliest time.' }),
  to: to.meta({ description: 'The time before which the events are.' }),
  cursor: cursor.meta({ description: '`nextCursor` of the last page.' }),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_MAX).meta({ description: 'The most events of a page.' }),
};

const { id, occurredAt, event, actorKind, keyId, requestId, clientRequestId, reason, count } = auditEventOutput.shape;
const optionalId = z.string().nullable();

const auditToolEvent = z.object({
  id: id.meta({ description: 'Its id.' }),
  occurredAt: occurredAt.meta({ description: 'When it happened.' }),
  event: event.meta({ description: 'Its name.' }),
  actorKind: actorKind.meta({ description: 'The kind of credential that acted.' }),
  actorId: optionalId.meta({ description: 'The user who acted.' }),
  keyId: keyId.meta({ description: 'The API key that was used.' }),
  subjectId: optionalId.meta({ description: 'The user that it is about, if another than the actor.' }),
  targetId: optionalId.meta({ description: 'The member, role, invitation or other thing that it is about.' }),
  requestId: requestId.meta({ description: 'The id that Roster gave the call.' }),
  clientRequestId: clientRequestId.meta({ description: 'The `X-Request-Id` that the client sent with the call.' }),
  reason: reason.meta({ description: 'Why it happened, such as the code with which a call was denied.' }),
  count: count.meta({ description: 'How many equal events within a minute this one stands for.' }),
});

export const auditToolOutput = z.object({
  events: z.array(auditToolEvent).meta({ description: 'The newest first.' }),
  nextCursor: optionalId.meta({ description: 'The `cursor` of the next page, or null if there is none.' }),
});

/** Reduces an event to ids. */
export const withoutNamesAndAddress = ({
  actor,
  subject,
  target,
  credentialName: _credentialName,
  address: _address,
  ...event
}: ReturnType<typeof presentEvent>): z.infer<typeof auditToolEvent> => ({
  ...event,
  actorId: actor?.accountId ?? null,
  subjectId: subject?.accountId ?? null,
  targetId: target?.id ?? null,
});
