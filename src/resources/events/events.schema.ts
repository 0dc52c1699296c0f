import { z } from 'zod';
import { EVENTS, type EventName } from '../../events/catalogue.ts';
import { eventOutput } from '../../events/feed/event-schema.ts';

type DeliveredName = {
  [Name in EventName]: (typeof EVENTS)[Name]['isDelivered'] extends true ? Name : never;
}[EventName];

const isDelivered = (name: EventName): name is DeliveredName => EVENTS[name].isDelivered;
const DELIVERED = (Object.keys(EVENTS) as EventName[]).filter(isDelivered); // the keys of a constant object

/** The longest wait, in seconds. Proxies commonly close connections that are silent for 30 s or more. */
const WAIT_MAX = 20;

export const feedInput = {
  after: z.string().max(100).optional().meta({ description: '`cursor` of the previous page. Without it, the oldest.' }),
  limit: z.int().min(1).max(100).default(50),
  types: z.array(z.enum(DELIVERED)).min(1).max(DELIVERED.length).optional(),
  wait: z.int().min(0).max(WAIT_MAX).default(0).meta({ description: 'Seconds to wait if there is nothing new.' }),
};

export const feedOutput = z.object({
  events: z.array(eventOutput),
  cursor: z.string().meta({ description: 'Where to go on. Store it once the events are processed.' }),
  hasMore: z.boolean().meta({ description: 'Whether to go on at once.' }),
});
