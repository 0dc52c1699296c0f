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
  readonly is_numbered: boolean;
  readonly has_payload: boolean;
};

type Rows = (sql: string) => Promise<Recorded[]>;

/** Another process may be numbering, or the test may have blocked it. */
const RUNS_MAX = 100;

/**
 * Numbers the events of a database and compares them with the catalogue. Those that a test inserted
 * itself have no MAC and do not count; those that cannot be numbered, such as of another key, have no payload.
 * @throws if an event differs
 */
export async function requireCatalogued(services: NumberingServices, rows: Rows): Promise<void> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  for (let i = 0; i < RUNS_MAX; i += 1) if ((await numberEvents(services, log)).outcome !== 'more') break;
  const recorded = await rows(
    `select distinct e.event, e.details, p.data, l.sequence is not null as is_numbered, p.sequence is not null as has_payload
     from audit_event e left join audit_link l on l.event_id = e.id left join event_payload p on p.sequence = l.sequence
     where e.mac is not null`,
  );
  const stray = new Set(recorded.flatMap(findDifferences));
  if (stray.size > 0) throw new Error(`Events differ from the catalogue:\n${[...stray].join('\n')}`);
}

function findDifferences({ event, details, data, is_numbered: isNumbered, has_payload: hasPayload }: Recorded) {
  if (!Object.hasOwn(EVENTS, event)) return [`${event} is not in the catalogue`];
  const name = event as EventName; // just checked
  const schema = z.object({ details: createDetailsSchema(name), data: createDataSchema(name).nullable() });
  const { error } = schema.safeParse({ details, data });
  const isAsDeclared = !isNumbered || hasPayload === EVENTS[name].isDelivered;
  return [
    ...(error === undefined ? [] : [`${event}: ${z.prettifyError(error)}`]),
    ...(isAsDeclared ? [] : [`${event} has${hasPayload ? '' : ' no'} payload`]),
  ];
}
