import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { emailAddress, productPermissionNames, readableName, text } from '../procedures/fields.ts';

type Parse<Value> = (raw: string) => Value;

/** Creates an option with a typed parser. */
export function option<Value>(flags: string, description: string, parse: Parse<Value>): Option {
  return new Option(flags, description).argParser(parse);
}

export const required = (optional: Option): Option => optional.makeOptionMandatory();

export const teamOption = (): Option =>
  required(new Option('--team <id>', 'the team: its id, or ext: and its external id'));

export const emailOption = (description: string): Option =>
  required(new Option('--email <address>', `${description}: email address, or ext: and the external id`));

export const expiryOption = (): Option =>
  option('--expires-at <instant>', 'expiry, as ISO 8601 with a time zone', instant);

/** Creates a parser that accepts what the schema accepts. */
export const createParser =
  (schema: z.ZodType<string>, fault: string): Parse<string> =>
  (raw) => {
    const { data } = schema.safeParse(raw);
    if (data === undefined) throw new InvalidArgumentError(fault);
    return data;
  };

export const email = createParser(emailAddress, 'It must be an email address.');

export const textOf = (min: number, max: number): Parse<string> =>
  createParser(text(min, max), `It must have ${min} to ${max} characters.`);

export const nameOf = (min: number, max: number): Parse<string> =>
  createParser(
    readableName(min, max),
    `It must have ${min} to ${max} characters, at least one of them visible and no control characters.`,
  );

const ISO_INSTANT = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const LAST_INSTANT = Date.UTC(9999, 11, 31);

export const externalIdOption = (): Option =>
  option('--external-id <id>', 'id in a system of yours, 1 to 255 characters', textOf(1, 255));

/** Parses an instant in ISO 8601 with a time zone. Rejects days that do not exist. */
export function instant(raw: string): Date {
  const at = new Date(raw);
  const [, year, month, day] = ISO_INSTANT.exec(raw)?.map(Number) ?? [];
  // Date reads February 30 as March 2.
  const isRealDay = day !== undefined && day === new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day)).getUTCDate();
  if (!isRealDay || !(at.getTime() >= 0 && at.getTime() <= LAST_INSTANT)) {
    throw new InvalidArgumentError('It must be an instant with a time zone, such as 2030-01-31T12:00:00Z.');
  }
  return at;
}

export const instantOrNever: Parse<Date | 'never'> = (raw) => (raw === 'never' ? raw : instant(raw));

export const days =
  (max: number): Parse<number> =>
  (raw) => {
    const count = /^\d{1,6}$/.test(raw) ? Number(raw) : 0;
    if (count < 1 || count > max) throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return count;
  };

export const hours =
  (max: number): Parse<number> =>
  (raw) => {
    const count = /^\d{1,4}$/.test(raw) ? Number(raw) : -1;
    if (count < 0 || count > max) throw new InvalidArgumentError(`It must be a whole number from 0 to ${max}.`);
    return count;
  };

/** Creates a parser for comma-separated names, each one of `known`. */
export const listOf =
  <Name extends string>(noun: string, known: readonly Name[]): Parse<Name[]> =>
  (raw) =>
    raw
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .map((word) => {
        const name = known.find((candidate) => candidate === word);
        if (name === undefined)
          throw new InvalidArgumentError(`There is no ${noun} ${word}; the ${noun}s are ${known.join(', ')}.`);
        return name;
      });

/** Parses comma-separated names of permissions of the product, which the service compares with the catalogue. */
export const productPermissions: Parse<string[]> = (raw) => {
  const names = raw
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const parsed = productPermissionNames.safeParse(names);
  if (!parsed.success)
    throw new InvalidArgumentError('It must be a list of names such as invoices:write, separated by commas.');
  return parsed.data;
};

/** Creates a parser for one name of `known`. */
export const oneOf =
  <Name extends string>(noun: string, known: readonly Name[]): Parse<Name> =>
  (raw) => {
    const name = known.find((candidate) => candidate === raw);
    if (name === undefined)
      throw new InvalidArgumentError(`There is no ${noun} ${raw}; the ${noun}s are ${known.join(', ')}.`);
    return name;
  };
