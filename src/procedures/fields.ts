import { z } from 'zod';

/** Whether PostgreSQL can store a string: no U+0000, no lone surrogate. */
export const isStorable = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed();

/** The length of a string in code points, as JSON Schema counts. */
function codePoints(value: string): number {
  let length = value.length;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) length--;
  }
  return length;
}

const bounded = (schema: z.ZodString | z.ZodEmail, min: number, max: number) =>
  schema
    .check(({ value, issues }) => {
      if (!isStorable(value)) {
        issues.push({ code: 'invalid_format', format: 'unicode', input: value });
        return;
      }
      const length = codePoints(value);
      if (length < min)
        issues.push({ code: 'too_small', origin: 'string', minimum: min, inclusive: true, input: value });
      if (length > max) issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });

/** A string of `min` to `max` code points. */
export const text = (min: number, max: number) => bounded(z.string(), min, max);

/** An email address of at most 255 code points. */
export const emailAddress = bounded(z.email(), 1, 255);

/** An id in a path or query. Any shape is valid; one that names nothing is a 404. */
export const resourceId = text(1, 255);

/** An instant in an answer, as an ISO 8601 string. */
export const timestamp = z.string().meta({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' });

/** The answer of an operation that has nothing else to say (spec 2.11). */
export const success = z
  .object({ success: z.literal(true) })
  .meta({ id: 'Success', description: 'The operation succeeded.' });

export const SUCCESS = { success: true } as const;
