import { z } from 'zod';
import { EVENTS, type EventName } from './catalogue.ts';
import type { EventDefinition } from './definition.ts';
import { DETAILS } from './details.ts';

/** Returns the schema of `details` of a type. */
export const createDetailsSchema = (type: EventName) => {
  const { details }: EventDefinition = EVENTS[type];
  const named = Object.fromEntries(details.map((name) => [name, DETAILS[name].optional()]));
  return z.strictObject({ ...named, ...(details.length > 0 && { leftOut: leftOut.optional() }) });
};

const leftOut = z
  .array(z.string())
  .meta({ description: 'The names of details that were too long to keep: all have 2,000 characters at most.' });

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
