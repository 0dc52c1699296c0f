import { z } from 'zod';
import { METADATA_BYTES_MAX, type JsonObject } from '../../entities/index.ts';
import { isStorable } from '../../procedures/fields.ts';
import { REPORTED_MAX } from '../../procedures/validation.ts';

/** The most levels of objects and arrays in a part of the metadata, itself included. */
export const METADATA_DEPTH_MAX = 16;

type Path = readonly (string | number)[];
/** `reason` is null for text that cannot be stored, which has a code of its own. */
type Fault = { readonly path: Path; readonly reason: string | null };

/** Yields what keeps JSON, as `parseExactJson` returns it, from being stored and returned unchanged. */
function* findFaults(value: unknown, path: Path = [], depth = 1): Generator<Fault> {
  if (typeof value === 'number' && !Number.isFinite(value))
    yield { path, reason: 'JSON numbers are read with 15 to 17 digits: send this one as a string.' };
  if (typeof value === 'string' && !isStorable(value)) yield { path, reason: null };
  if (typeof value !== 'object' || value === null) return;
  if (depth > METADATA_DEPTH_MAX) {
    yield { path, reason: `It has more than ${METADATA_DEPTH_MAX} levels.` };
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') yield { path: [...path, name], reason: 'No member can have this name.' };
    else if (!isStorable(name))
      yield { path, reason: 'The name of a member contains U+0000 or half of a surrogate pair.' };
    else yield* findFaults(member, [...path, Array.isArray(value) ? Number(name) : name], depth + 1);
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks a part of the metadata as it was sent, because a schema would leave `__proto__` out without a word. */
const part = <Value>(isValid: (value: unknown) => value is Value, type: 'object' | ['object', 'null']) =>
  z
    .unknown()
    .check(({ value, issues }) => {
      if (value === undefined) return;
      if (!isValid(value)) {
        issues.push({ code: 'invalid_type', expected: 'object', input: value });
        return;
      }
      let found = 0;
      for (const { path, reason } of findFaults(value)) {
        if ((found += 1) > REPORTED_MAX + 1) return;
        issues.push(
          reason === null
            ? { code: 'invalid_format', format: 'unicode', path: [...path], input: '' }
            : { code: 'custom', path: [...path], params: { reason }, input: '' },
        );
      }
    })
    .meta({ type }) as unknown as z.ZodType<Value, Value>; // what the check lets through

/** A part of the metadata as a whole. */
export const metadataPart = part(isObject, 'object');

/** A JSON merge patch (RFC 7396) of a part of the metadata: null empties it. */
export const metadataPatch = part((value) => value === null || isObject(value), ['object', 'null']) as z.ZodType<
  JsonObject | null,
  JsonObject | null
>;

/** Whether the JSON text of a part is short enough. */
export const isShortEnough = (json: string): boolean => Buffer.byteLength(json) <= METADATA_BYTES_MAX;

/**
 * Applies a JSON merge patch (RFC 7396) to an object. Members that are null are removed.
 * @param patch without a member `__proto__`
 */
export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined;
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? applyMergePatch(isObject(before) ? before : {}, value) : value;
  }
  return result;
}
