import { availableParallelism } from 'node:os';
import { z } from 'zod';

// Types of environment variables. An error message follows the name of its variable in the same line.

export const flag = z.enum(['true', 'false', '1', '0', 'on', 'off']).transform((value) => /^(true|1|on)$/.test(value));

// Every number has an upper bound, because a larger one would overflow a date, a timer or a column at run time.
export const REQUESTS_MAX = 1_000_000_000;
export const COUNT_MAX = 1_000_000;
export const DAYS_MAX = 3650;
export const SECONDS_MAX = 86_400;

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, error);
}

/** A number of processes; `auto` is one for each core that this process can use. */
export const processes = () =>
  z.union([z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 256)], {
    error: 'must be `auto` or a whole number from 1 to 256',
  });

export const count = (fallback: number, max = COUNT_MAX) => wholeNumber(1, max).default(fallback);
export const days = (fallback: number) => count(fallback, DAYS_MAX);
export const port = () => wholeNumber(1, 65_535);
export const url = (...protocols: readonly string[]) =>
  z.url({
    protocol: new RegExp(`^(${protocols.join('|')})$`),
    error: `must be a URL that starts with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  });

/** The URL of a server, with its host. */
export const serverUrl = (...protocols: readonly string[]) =>
  url(...protocols).refine((text) => !URL.canParse(text) || new URL(text).hostname !== '', 'must name a host');

/** The name of a file, a folder or a host. */
export const path = () =>
  z
    .string()
    .min(1)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters');

/** Creates a schema that converts a variable with `read`, which throws if the text is invalid. */
export const readBy = <Value>(read: (text: string) => Value) =>
  z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });

/** Splits at commas. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
