import { z } from 'zod';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { numberEvents } from '../../src/events/chain/append.ts';
import type { NumberingServices } from '../../src/events/chain/checkpoints.ts';
import { createDetailsSchema } from '../../src/events/details-schema.ts';
import { createDataSchema } from '../../src/events/feed/event-schema.ts';

type Recorded = {
  readonly id: string;
  readonly event: string;
  readonly details: unknown;
  readonly data: unknown;
  readonly is_numbered: boolean;
  readonly has_payload: boolean;
};

type Rows = (sql: string, values: readonly unknown[]) => Promise<Recorded[]>;

/** Another process may be numbering, or the test may have blocked it. */
const RUNS_MAX = 100;

/** Imports record hundreds of thousands of events, which one statement cannot read within its time limit. */
const PAGE = 5000;

/**
 * Numbers the events of a database and compares them with the catalogue. Those that a test inserted
 * itself have no MAC and do not count; those that cannot be numbered, such as of another key, have no payload.
 * @throws if an event differs
 */
export async function requireCatalogued(services: NumberingServices, rows: Rows): Promise<void> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  for (let i = 0; i < RUNS_MAX; i += 1) if ((await numberEvents(services, log)).outcome !== 'more') break;
  const stray = new Set<string>();
  for (let after: string | undefined = ''; after !== undefined;) {
    const recorded: Recorded[] = await rows(
      `select e.id, e.event, e.details - 'clientRequestId' as details, p.data, l.sequence is not null as is_numbered, p.sequence is not null as has_payload
       from (select id, event, details from audit_event where mac is not null and id > $1 order by id limit ${PAGE}) e
       left join audit_link l on l.event_id = e.id left join event_payload p on p.sequence = l.sequence
       order by e.id`,
      [after],
    );
    for (const difference of recorded.flatMap(findDifferences)) stray.add(difference);
    after = recorded.at(-1)?.id;
  }
  if (stray.size > 0) throw new Error(`Events differ from the catalogue:\n${[...stray].join('\n')}`);
}

const schemas = new Map<EventName, z.ZodType>();

function schemaOf(name: EventName): z.ZodType {
  const known = schemas.get(name);
  if (known !== undefined) return known;
  const schema = z.object({ details: createDetailsSchema(name), data: createDataSchema(name).nullable() });
  schemas.set(name, schema);
  return schema;
}

function findDifferences({ event, details, data, is_numbered: isNumbered, has_payload: hasPayload }: Recorded) {
  if (!Object.hasOwn(EVENTS, event)) return [`${event} is not in the catalogue`];
  const name = event as EventName; // just checked
  const { error } = schemaOf(name).safeParse({ details, data });
  const isAsDeclared = !isNumbered || hasPayload === EVENTS[name].isDelivered;
  return [
    ...(error === undefined ? [] : [`${event}: ${z.prettifyError(error)}`]),
    ...(isAsDeclared ? [] : [`${event} has${hasPayload ? '' : ' no'} payload`]),
  ];
}
