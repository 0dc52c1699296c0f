import { z } from 'zod';
import { ACTOR_KINDS } from '../../entities/index.ts';
import { openEnum } from '../../open-enum.ts';
import { EVENTS, type EventName } from '../catalogue.ts';
import type { EventDefinition } from '../definition.ts';
import { DATA } from '../data.ts';
import { createDetailsSchema } from '../details-schema.ts';

const id = z.string();
const TARGETS = [...new Set(Object.values(EVENTS).map(({ target }) => target))].filter((target) => target !== null);

/** What every delivered event has. */
const ENVELOPE = {
  id: id.meta({
    description: 'Its id, the same in feeds, deliveries and the audit log.',
    example: 'evt_…',
  }),
  occurredAt: z.string().meta({ format: 'date-time', description: 'When it happened.' }),
  actor: z
    .object({
      kind: openEnum([...ACTOR_KINDS, 'operator']).meta({
        description: 'The kind of credential that acted. More can be added.',
      }),
      id: id.nullable().meta({ description: 'The account that acted.' }),
      credentialId: id.nullable().meta({ description: 'The session, API key or OAuth grant.' }),
      clientId: id.nullable().meta({ description: 'The OAuth client that acted, or is concerned.' }),
    })
    .meta({ description: 'Who acted. An operator is not named to teams.' }),
  teamId: id.nullable().meta({ description: 'The team in which it happened.' }),
  accountId: id.nullable().meta({ description: 'The account that it is about.' }),
  target: z
    .object({
      type: openEnum(TARGETS).nullable().describe('Its kind. More can be added.'),
      id: id.describe('Its id.'),
    })
    .nullable()
    .meta({ description: 'The resource that it is about, unless that is the team or the account.' }),
  requestId: id.nullable().meta({ description: 'The id that Roster gave the call. No other call has it.' }),
  clientRequestId: id.nullable().meta({ description: 'The `X-Request-Id` that the client sent with the call.' }),
};

/** A delivered event of any type. */
export const eventOutput = z
  .object({
    ...ENVELOPE,
    type: openEnum(Object.keys(EVENTS) as EventName[]).meta({ description: 'More types can be added.' }),
    version: z.int().meta({ description: 'The version of the type.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What the type says besides ids. Never erased.' }),
    data: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The resource. Null if it was deleted, erased, or if the reader may not see it.' }),
  })
  .meta({ id: 'Event', description: 'A change, as feeds and deliveries show it.' });

export type DeliveredEvent = z.infer<typeof eventOutput>;

/** Returns the schema of `data` of a type. */
export const createDataSchema = (type: EventName) => {
  const { data }: EventDefinition = EVENTS[type];
  return data === null ? z.null() : z.strictObject({ [data]: DATA[data] }).nullable();
};

/** Returns the schema of a delivered event of one type, which its JSON Schema is generated from. */
export const createEventSchema = (type: EventName) =>
  z.object({
    ...ENVELOPE,
    type: z.literal(type),
    version: z.literal(EVENTS[type].version),
    details: createDetailsSchema(type),
    data: createDataSchema(type).meta({ description: 'The resource. Null if it was deleted or erased.' }),
  });
