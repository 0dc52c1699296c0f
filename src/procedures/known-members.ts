import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { definitionOf } from './definition.ts';
import { inputOf } from './middlewares.ts';

type Issues = z.core.$ZodIssue[];

/** How many unknown members are reported at most: each entry names the members that exist. */
export const REPORTED_MAX = 20;

/** What hooks for infinite lists add to the input of a query over tRPC. */
const ADDED_BY_HOOKS = 'direction';

/** Returns an issue for each member that an input does not have. Its `allowed` are the members that exist. */
export function findUnknownMembers(schema: z.ZodObject | undefined, raw: unknown): Issues {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [];
  const shape = schema?.shape ?? {};
  const unknown = Object.keys(raw).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length === 0) return [];
  const params = { allowed: Object.keys(shape) };
  return unknown.slice(0, REPORTED_MAX).map((name) => ({ code: 'custom', path: [name], message: '', params }));
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
      throw new TRPCError({ code: 'BAD_REQUEST', cause: new z.ZodRealError(findIssues(schema, raw)) });
    return run({ ...options, getRawInput: () => Promise.resolve(raw) });
  };
}
