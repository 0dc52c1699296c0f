import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { definitionOf } from './definition.ts';
import { inputOf } from './middlewares.ts';
import { REPORTED_MAX } from './validation.ts';

type Issues = z.core.$ZodIssue[];

/** An object that refuses unknown members as inputs of the operator API do: by name, and with those that exist. */
export const closedObject = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.strictObject(shape, {
    // zod keeps what an issue has when it makes the message.
    error: (issue) => void Object.assign(issue, { params: { allowed: Object.keys(shape) } }),
  });

/** What zod leaves out of records without a word. */
const IGNORED = '__proto__';

/** A record of at most `max` members, which are counted before they are read. It refuses `__proto__` too. */
export const closedRecord = <Name extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  name: Name,
  value: Value,
  max: number,
) => {
  const record = z.record(name, value);
  return z.preprocess((raw, { issues }) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
    if (Object.keys(raw).length > max)
      issues.push({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: raw });
    if (Object.hasOwn(raw, IGNORED)) issues.push({ code: 'unrecognized_keys', keys: [IGNORED], input: { ...raw } });
    return raw;
  }, record) as unknown as typeof record; // the same but for the check
};

/** What hooks for infinite lists add to the input of a query over tRPC. */
const ADDED_BY_HOOKS = 'direction';

/** Returns an issue for each member that an input does not have. Its `allowed` are the members that exist. */
export function findUnknownMembers(schema: z.ZodObject | undefined, raw: unknown): Issues {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [];
  const shape = schema?.shape ?? {};
  const unknown = Object.keys(raw).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length === 0) return [];
  const params = { allowed: Object.keys(shape) };
  return unknown.slice(0, REPORTED_MAX + 1).map((name) => ({ code: 'custom', path: [name], message: '', params }));
}

/** Returns what is wrong with an input that must not have unknown members. */
export const findIssues = (schema: z.ZodObject | undefined, raw: unknown): Issues => [
  ...findUnknownMembers(schema, raw),
  ...(schema?.safeParse(raw).error?.issues ?? []),
];

type Options = { readonly getRawInput: () => Promise<unknown> };

/** Makes a procedure reject unknown members of its input, which zod ignores. */
export function requireKnownMembers<Given extends Options>(
  procedure: AnyTRPCProcedure,
  run: (options: Given) => Promise<unknown>,
): (options: Given) => Promise<unknown> {
  const schema = inputOf(procedure);
  const isTolerated = ({ path: [name] }: Issues[number]) =>
    name === ADDED_BY_HOOKS && definitionOf(procedure).type === 'query';
  return async (options) => {
    const raw = await options.getRawInput();
    if (!findUnknownMembers(schema, raw).every(isTolerated))
      throw new TRPCError({
        code: 'BAD_REQUEST',
        message: 'Invalid input.',
        cause: new z.ZodRealError(findIssues(schema, raw)),
      });
    return run({ ...options, getRawInput: () => Promise.resolve(raw) });
  };
}
