import { getTRPCErrorFromUnknown, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';
import { z } from 'zod';
import { LongList, type Listed } from '../db/long-list.ts';
import { isLong } from '../db/parts.ts';
import { JsonText } from './json-text.ts';

/** Wraps the last part of a procedure, after its input was parsed and access checked: the resolver with its output. */
export type AroundResolver<Context> = (
  options: { readonly ctx: Context; readonly input: unknown },
  resolve: (ctx: Context) => Promise<unknown>,
) => Promise<unknown>;

/** The options that tRPC's adapters pass to a procedure. */
export type CallOptions<Context> = {
  readonly ctx: Context;
  readonly input?: unknown;
  readonly getRawInput: () => Promise<unknown>;
};

type Result = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly error: TRPCError };
type Given = { readonly ctx?: object; readonly input?: unknown; readonly getRawInput?: () => Promise<unknown> };
type MiddlewareOptions = {
  readonly ctx?: unknown;
  readonly meta?: unknown;
  readonly input?: unknown;
  readonly next: (given?: Given) => Promise<Result>;
};
type Middleware = ((options: MiddlewareOptions) => Promise<Result>) & { readonly _type?: string };

/** Returns the input schema of a procedure, or undefined if it has no input. */
export function inputOf({ _def }: AnyTRPCProcedure): z.ZodObject | undefined {
  const { inputs } = _def as unknown as { readonly inputs: readonly unknown[] }; // not in the public type; trpc-to-openapi reads it too
  return inputs.find((schema) => schema instanceof z.ZodObject);
}

/**
 * Runs the middlewares of a procedure as tRPC does (v11, `callRecursive`), without the two copies of
 * all options, property by property, that it makes for each: they were a tenth of a read's CPU time.
 * @throws TRPCError as the procedure itself
 */
export function createRunner<Context extends object>(
  procedure: AnyTRPCProcedure,
  around?: AroundResolver<Context>,
): (options: CallOptions<Context>) => Promise<unknown> {
  const { meta, ...given } = procedure._def as unknown as { meta: unknown; middlewares: readonly Middleware[] };
  const middlewares = given.middlewares.map((one) =>
    one._type === 'output' ? wrap(presentInParts(one), around) : one,
  );

  async function step(index: number, options: CallOptions<object>): Promise<Result> {
    try {
      return await middlewares[index]!({
        ...options,
        meta,
        input: options.input,
        next: (given) =>
          step(index + 1, {
            ...options,
            ctx: given?.ctx === undefined ? options.ctx : { ...options.ctx, ...given.ctx },
            input: given !== undefined && 'input' in given ? given.input : options.input,
            getRawInput: given?.getRawInput ?? options.getRawInput,
          }),
      });
    } catch (cause) {
      return { ok: false, error: getTRPCErrorFromUnknown(cause) };
    }
  }

  return async (options) => {
    const result = await step(0, options);
    if (!result.ok) throw result.error;
    return result.data;
  };
}

function wrap<Context extends object>(output: Middleware, around: AroundResolver<Context> | undefined): Middleware {
  if (around === undefined) return output;
  return async (options) => {
    const resolve = async (ctx: Context) => {
      const result = await output({ ...options, next: () => options.next({ ctx }) });
      if (!result.ok) throw result.error;
      return result.data;
    };
    const { ctx, input } = options as { ctx: Context; input: unknown }; // the context of the procedure
    return { ok: true, data: await around({ ctx, input }, resolve) };
  };
}

const isLongList = (data: unknown): data is readonly unknown[] | LongList<unknown> =>
  data instanceof LongList || (Array.isArray(data) && isLong(data));

/** Returns a list from a resolver, whose declared type is that of the list: a procedure presents a long one in parts. */
export const present = async <Item>(list: Promise<Listed<Item>>): Promise<Item[]> => (await list) as Item[]; // or a LongList

/**
 * Presents long lists as text that is validated and made in parts, because a list of thousands takes so long that all
 * other requests would notice. Schemas of lists constrain the items only.
 * @param validate tRPC's middleware that validates the output
 */
const presentInParts =
  (validate: Middleware): Middleware =>
  async ({ next }) => {
    const result = await next();
    if (!result.ok || !isLongList(result.data)) return validate({ next: () => Promise.resolve(result) });
    const presentPart = async (part: readonly unknown[]) => {
      const presented = await validate({ next: () => Promise.resolve({ ...result, data: part }) });
      if (!presented.ok) throw presented.error;
      return presented.data as readonly unknown[]; // a list stays one
    };
    return { ...result, data: await JsonText.fromList(result.data, presentPart) };
  };
