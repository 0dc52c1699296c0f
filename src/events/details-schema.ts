import { z } from 'zod';
import { EVENTS, type EventName } from './catalogue.ts';
import type { EventDefinition } from './definition.ts';
import { DETAILS } from './details.ts';

/** Returns the schema of `details` of a type. */
export const createDetailsSchema = (type: EventName) => {
  const { details }: EventDefinition = EVENTS[type];
  return z.strictObject(Object.fromEntries(details.map((name) => [name, DETAILS[name].optional()])));
};

/** Creates an example of `details` of a type. */
export function createDetailsExample(type: EventName): Record<string, unknown> {
  const { details }: EventDefinition = EVENTS[type];
  return Object.fromEntries(
    details.flatMap((name) => {
      const { example } = DETAILS[name].meta() ?? {};
      return example === undefined ? [] : [[name, example] as const];
    }),
  );
}
