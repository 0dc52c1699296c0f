import type { z } from 'zod';
import type { ValidationEntry } from '../problems/error.ts';
import { isStorable } from './fields.ts';

type Issue = z.core.$ZodIssue;
/** Returns the part of the request that contained a top-level member of the input. */
export type ParameterLocation = (field: string) => ValidationEntry['in'];

/** How many faults of a request are reported at most. */
export const REPORTED_MAX = 20;

/**
 * Converts zod's issues to the contract's entries (spec 7), to one more than are reported: a document then says that there
 * are more. @param input the raw input
 */
export function toValidationEntries(
  issues: readonly Issue[],
  input: unknown,
  locationOf: ParameterLocation,
): ValidationEntry[] {
  // One value can violate two rules of zod with the same code. Keeps the last one, which is the schema's own.
  const last = new Map<string, ValidationEntry>();
  for (const issue of issues) {
    for (const each of byMember(issue)) {
      const entry = toEntry(each, valueAt(input, each.path), locationOf);
      const key = `${entry.code} ${entry.pointer}`;
      last.delete(key);
      last.set(key, entry);
    }
    if (last.size > REPORTED_MAX) break;
  }
  return [...last.values()];
}

/** Returns an issue for each member that an object does not have. */
const byMember = (issue: Issue): readonly Issue[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.slice(0, REPORTED_MAX + 1).map((name) => ({ ...issue, path: [...issue.path, name] }))
    : [issue];

function toEntry(issue: Issue, value: unknown, locationOf: ParameterLocation): ValidationEntry {
  const [field] = issue.path;
  const location = {
    in: field === undefined ? ('body' as const) : locationOf(String(field)),
    pointer: pointerTo(issue.path),
  };
  // zod's issues do not contain whether a member was absent.
  if (value === undefined) return { ...location, code: 'required' };
  if (typeof value === 'string' && !isStorable(value))
    return { ...location, code: 'invalid_format', params: { format: 'unicode' } };
  const isBeside = (name: string) => locationOf(name) === location.in;
  return { ...location, ...toViolation(issue, value, isBeside) };
}

/** @param isBeside whether a member of the input is in the same part of the request */
function toViolation(
  issue: Issue,
  value: unknown,
  isBeside: (name: string) => boolean,
): Pick<ValidationEntry, 'code' | 'params'> {
  switch (issue.code) {
    case 'invalid_type':
      return { code: 'invalid_type', params: { expected: issue.expected === 'int' ? 'integer' : issue.expected } };
    case 'invalid_format':
      return { code: 'invalid_format', params: { format: issue.format } };
    case 'too_small':
      return { code: hasLength(issue.origin) ? 'min_length' : 'min_value', params: { min: Number(issue.minimum) } };
    case 'too_big':
      return { code: hasLength(issue.origin) ? 'max_length' : 'max_value', params: { max: Number(issue.maximum) } };
    case 'invalid_value':
      return typeof value === 'string'
        ? { code: 'invalid_value', params: { allowed: issue.values.map(String).join(', ') } }
        : { code: 'invalid_type', params: { expected: typeof issue.values[0] } };
    case 'unrecognized_keys': {
      const { params } = issue as { readonly params?: { readonly allowed: readonly string[] } }; // of `closedObject`
      return { code: 'invalid_value', ...(params && { params: { allowed: params.allowed.join(', ') } }) };
    }
    case 'custom': {
      const { allowed, reason } = (issue.params ?? {}) as { allowed?: readonly string[]; reason?: string }; // of an unknown member, of metadata
      if (reason !== undefined) return { code: 'invalid_value', params: { reason } };
      return { code: 'invalid_value', ...(allowed && { params: { allowed: allowed.filter(isBeside).join(', ') } }) };
    }
    default:
      return { code: 'invalid_value' };
  }
}

const hasLength = (origin: string) => origin === 'string' || origin === 'array';

/** RFC 6901. */
export const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key]; // an object with that own key
  }
  return value;
}
