import { getTRPCErrorFromUnknown, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';

/** What tRPC's adapters call a procedure with. */
export type CallOptions<Context> = {
  readonly ctx: Context;
  readonly input?: unknown;
  readonly getRawInput: () => Promise<unknown>;
};

type Result = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly error: TRPCError };
type Given = { readonly ctx?: object; readonly input?: unknown; readonly getRawInput?: () => Promise<unknown> };
type Middleware = (options: object) => Promise<Result>;

/**
 * Runs the middlewares of a procedure as tRPC does (v11, `callRecursive`), without the two copies of
 * all options, property by property, that it makes for each: they were a tenth of a read's CPU time.
 * @throws TRPCError as the procedure itself
 */
export function createRunner<Context extends object>(
  procedure: AnyTRPCProcedure,
): (options: CallOptions<Context>) => Promise<unknown> {
  const { meta, middlewares } = procedure._def as unknown as { meta: unknown; middlewares: readonly Middleware[] };

  async function step(index: number, options: CallOptions<object>): Promise<Result> {
    try {
      return await middlewares[index]!({
        ...options,
        meta,
        input: options.input,
        next: (given?: Given) =>
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
