import { z } from 'zod';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import type { NumberingServices } from '../../src/events/chain/checkpoints.ts';
import { createDetailsSchema } from '../../src/events/details-schema.ts';
import { createDataSchema } from '../../src/events/feed/event-schema.ts';

type Recorded = {
  readonly event: string;
  readonly details: unknown;
  readonly data: unknown;
  readonly has_payload: boolean;
};

type Rows = (sql: string) => Promise<Recorded[]>;

/** Numbers what a test file recorded and compares it with the catalogue. @returns what differs */
export async function findStrayEvents(services: NumberingServices, rows: Rows): Promise<string[]> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  while ((await numberEvents(services, log)).outcome === 'more');
  const recorded = await rows(
    `select e.event, e.details, p.data, p.sequence is not null as has_payload
     from audit_event e join audit_link l on l.event_id = e.id left join event_payload p on p.sequence = l.sequence`,
  );
  return recorded.flatMap(({ event, details, data, has_payload: hasPayload }) => {
    if (!Object.hasOwn(EVENTS, event)) return [`${event} is not in the catalogue`];
    const name = event as EventName; // just checked
    const schema = z.object({ details: createDetailsSchema(name), data: createDataSchema(name).nullable() });
    const { error } = schema.safeParse({ details, data });
    const isAsDeclared = hasPayload === EVENTS[name].isDelivered;
    return [
      ...(error === undefined ? [] : [`${event}: ${z.prettifyError(error)}`]),
      ...(isAsDeclared ? [] : [`${event} has${hasPayload ? '' : ' no'} payload`]),
    ];
  });
}
