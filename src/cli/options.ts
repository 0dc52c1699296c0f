import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import {
  emailAddress,
  instantSince1970,
  personName,
  productPermissionNames,
  readableName,
  text,
} from '../procedures/fields.ts';

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

/** Creates a parser that accepts what the schema accepts, and returns its value. */
export const createParser =
  (schema: z.ZodType<string>, fault: string): Parse<string> =>
  (raw) => {
    const { success, data } = schema.safeParse(raw);
    if (!success) throw new InvalidArgumentError(fault);
    return data;
  };

export const email = createParser(emailAddress, 'It must be an email address.');

export const textOf = (min: number, max: number): Parse<string> =>
  createParser(text(min, max), `It must have ${min} to ${max} characters.`);

const nameFault = (max: number): string => `It must have 1 to ${max} visible characters in one line.`;

const NAME_LENGTH_MAX = 100;

/** Parses the name of a resource. */
export const resourceName = createParser(readableName(1, NAME_LENGTH_MAX), nameFault(NAME_LENGTH_MAX));

/** Parses the first or last name of a person. */
export const namePart = createParser(personName, nameFault(255));

export const externalIdOption = (): Option =>
  option('--external-id <id>', 'id in a system of yours, 1 to 255 characters', textOf(1, 255));

const parseInstant = createParser(
  instantSince1970,
  'It must be an instant with a time zone, such as 2030-01-31T12:00:00Z.',
);

/** Parses an instant in ISO 8601 with a time zone, also without seconds, because it is typed by hand. */
export const instant: Parse<Date> = (raw) =>
  new Date(parseInstant(raw.replace(/T(\d\d:\d\d)(?=Z$|[+-]\d\d:\d\d$)/, 'T$1:00')));

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
