import { z } from 'zod';
import { PERMISSIONS, SCOPES } from '../entities/index.ts';
import { hasStrayTags, showsSomething } from '../messages/neutralize.ts';
import { ProblemError } from '../problems/error.ts';

/** Whether PostgreSQL can store a string: it has no U+0000 and no lone surrogate. */
export const isStorable = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed();

/** Counts the code points of a string, as JSON Schema does. */
function countCodePoints(value: string): number {
  let length = value.length;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) length--;
  }
  return length;
}

const withLength = <Schema extends z.ZodString | z.ZodEmail>(schema: Schema, min: number, max: number) =>
  schema
    .check(({ value, issues }) => {
      if (!isStorable(value)) {
        issues.push({ code: 'invalid_format', format: 'unicode', input: value });
        return;
      }
      const length = countCodePoints(value);
      if (length < min)
        issues.push({ code: 'too_small', origin: 'string', minimum: min, inclusive: true, input: value });
      if (length > max) issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max });

/** A string of `min` to `max` code points. */
export const text = (min: number, max: number) => withLength(z.string(), min, max);

// C0, C1, line and paragraph separators; embeddings, overrides and isolates of bidirectional text.
const UNREADABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Whether a name displays as one line as written: without characters that reorder, hide or break text. */
export const isReadableName = (name: string): boolean =>
  !UNREADABLE.test(name) && !hasStrayTags(name) && showsSomething(name);

/** A string without the white space at both ends, which exports, forms and shells add. */
const trimmedText = (min: number, max: number) => withLength(z.string().trim(), min, max);

/** The name of a resource or user, with `min` to `max` code points. Without the white space at its ends. */
export const readableName = (min: number, max: number) =>
  trimmedText(min, max).check(({ value, issues }) => {
    if (value !== '' && !isReadableName(value)) issues.push({ code: 'invalid_format', format: 'name', input: value });
  });

/** The first or last name of a person. Names of one character are usual in Chinese and Korean. */
export const personName = readableName(1, 255);

/**
 * Requires readable names, except from callers over REST. There only the lengths are checked (section 8 of the
 * contract), so operations that also serve tRPC and MCP cannot check this in their input schema.
 * @returns the names without the white space at both ends, or over REST as they were sent
 */
export function toReadableNames<Names extends Readonly<Record<string, string>>>(
  { acceptsAnyName }: { readonly acceptsAnyName: boolean },
  names: Names,
): Names {
  if (acceptsAnyName) return names;
  const trimmed = Object.entries(names).map(([field, name]) => [field, name.trim()] as const);
  const pointers = trimmed.flatMap(([field, name]) => (isReadableName(name) ? [] : [`/${field}`]));
  if (pointers.length === 0) return Object.fromEntries(trimmed) as Names; // the same members
  throw new ProblemError('validation_failed', undefined, {
    errors: pointers.map((pointer) => ({ in: 'body', pointer, code: 'invalid_format' })),
  });
}

/** The pattern of `input type=email` in HTML (WHATWG), but the domain needs a dot. */
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/;

/** An email address of at most 255 code points, exactly as section 4.14 of the contract has it. */
export const exactEmailAddress = withLength(z.email({ pattern: EMAIL }), 1, 255);

/** The same for everything else, without the white space at both ends. */
export const emailAddress = trimmedText(1, 255).check(z.email({ pattern: EMAIL }));

/** Spaces and control characters, which `URL` drops or encodes: the stored text would not be the parsed URL. */
const UNSAFE_IN_URL = /[\p{C}\p{Z}\\]/u;

/** The URL of a picture. Pages load it, so it is https and contains no credentials. */
export const pictureUrl = trimmedText(1, 2048).check(({ value, issues }) => {
  const url = UNSAFE_IN_URL.test(value) ? null : URL.parse(value);
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return;
  issues.push({ code: 'invalid_format', format: 'url', input: value });
});

/** A language tag (BCP 47), stored in its canonical spelling. Exports of other systems often have `_`, as in `pt_BR`. */
export const locale = trimmedText(1, 100).transform((value, { issues }) => {
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-'))[0] ?? null;
  } catch {
    issues.push({ code: 'invalid_format', format: 'language_tag', input: value });
    return z.NEVER;
  }
});

/**
 * A password to verify. A short one is wrong, not invalid, and so is a long one, because other systems have longer ones:
 * imported users keep them, and nobody can tell who was imported. The body is limited.
 */
export const givenPassword = z.string().refine(isStorable);

/** An id in a path or query. All formats are valid; unknown ids are a 404. */
export const resourceId = text(1, 255);

const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

const isInstant = (value: string): boolean => Date.parse(value) >= FIRST_INSTANT && Date.parse(value) <= LAST_INSTANT;

/**
 * A time, as ISO 8601 with a time zone, in a year that PostgreSQL reads: 1 to 9999. Its value is in UTC, because PostgreSQL
 * reads only offsets of less than 16 hours.
 */
export const instant = z.iso
  .datetime({ offset: true, abort: true })
  .overwrite((value) => (isInstant(value) ? new Date(value).toISOString() : value))
  .refine(isInstant);

/** A time of a resource: when it was created or used, or expires. */
export const instantSince1970 = instant.refine((value) => Date.parse(value) >= 0);

/** A time in a response, as an ISO 8601 string. */
export const timestamp = z.string().meta({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' });

export const scopeName = z
  .enum(SCOPES)
  .meta({ id: 'Scope', description: 'A group of operations that a credential can call.' });

export const permissionName = z
  .enum(PERMISSIONS)
  .meta({ id: 'Permission', description: 'A group of actions that a role allows in a team.' });

/** An area and an action. None of the six permissions of Roster has a colon. */
const PRODUCT_PERMISSION = /^[a-z][a-z0-9_-]{0,49}:[a-z][a-z0-9_-]{0,49}$/;

export const productPermissionName = z
  .string()
  .regex(PRODUCT_PERMISSION, 'It must be an area and an action, such as invoices:write.')
  .meta({
    id: 'ProductPermission',
    description: 'A permission of your product: an area and an action.',
    example: 'invoices:write',
  });

/** How many permissions a catalogue has at most. */
export const PRODUCT_PERMISSIONS_MAX = 500;

export const productPermissionNames = z.array(productPermissionName).max(PRODUCT_PERMISSIONS_MAX);

/** A permission of Roster or of the operator’s product. */
export const anyPermissionName = z
  .string()
  .regex(new RegExp(`^(?:${PERMISSIONS.join('|')}|${PRODUCT_PERMISSION.source.slice(1, -1)})$`))
  .meta({
    id: 'AnyPermission',
    description: 'A permission of Roster, or one of your product.',
    example: 'invoices:write',
  });

/** A permission in an answer. The database holds it to its form, so it is not checked once more for each of up to 500. */
export const heldPermissionName = z.string().meta({
  id: 'HeldPermission',
  description: 'A permission of Roster, or one of your product.',
  example: 'invoices:write',
});

/** The response of operations that return no data (spec 2.11). */
export const success = z
  .object({ success: z.literal(true).meta({ description: 'Always true; a failure is an error response.' }) })
  .meta({ id: 'Success', description: 'The operation succeeded.' });

export const SUCCESS = { success: true } as const;
