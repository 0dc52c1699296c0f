import { initTRPC, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';
import type { OpenApiMeta } from 'trpc-to-openapi';
import { authorize, type Access } from './authorize.ts';
import type { Context } from './context.ts';
import { runAs } from '../events/actor.ts';
import { toActor } from './create-context.ts';
import { createProblemDocument, toProblemError } from './problem-details.ts';
import { createRunner, type CallOptions } from './run.ts';

export type Meta = {
  readonly access?: Access;
  /** The success status over REST. */
  readonly status?: 200 | 201;
  readonly openapi?: NonNullable<OpenApiMeta['openapi']>;
};

/** The contexts of requests that tRPC refuses before it asks for one. */
const contexts = new WeakMap<TRPCError, Context>();

/** Says which request a failure is of, before it is put into words. */
export const setErrorContext = (error: TRPCError, ctx: Context): void => void contexts.set(error, ctx);

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    // Callers over tRPC read the same document that REST sends, in `error.data.problem`.
    errorFormatter: ({ shape, error, ctx = contexts.get(error), input, path }) => {
      // What blocks a whole request comes before anything else, also before an unknown procedure.
      const failure = ctx?.blocked ?? toProblemError(error, { raw: input, locationOf: () => 'body' });
      const problem = createProblemDocument(failure, ctx?.services.config.baseUrl ?? '', ctx?.requestId ?? '');
      return {
        message: failure.message,
        code: shape.code,
        data: { code: failure.code, httpStatus: problem.status, ...(path === undefined ? {} : { path }), problem },
      };
    },
  });

export const { procedure, mergeRouters } = t;

/** A router whose procedures refuse by credential, scope and audience before they read their input. */
export const router: typeof t.router = (procedures) => {
  const entries = Object.entries(procedures).map(([name, entry]) => [
    name,
    typeof entry === 'function' ? authorizeFirst(entry as AnyTRPCProcedure) : entry, // routers are objects, procedures functions
  ]);
  return t.router(Object.fromEntries(entries));
};

// Around the procedure and not a middleware in it: each of those costs a step and a copy of its options.
function authorizeFirst(inner: AnyTRPCProcedure): AnyTRPCProcedure {
  const access = (inner._def.meta as Meta | undefined)?.access; // procedures are built from `t` above alone
  const run = createRunner<Context>(inner);
  // What only reads records nothing, but for operators, who see everybody's data.
  const isRecorded = inner._def.type === 'mutation' || access?.operatorOnly === true;
  const outer = async (options: CallOptions<Context>) => {
    if (options.ctx.blocked !== null) throw options.ctx.blocked;
    if (access !== undefined) authorize(options.ctx.authentication, access);
    return isRecorded ? runAs(toActor(options.ctx), () => run(options)) : run(options);
  };
  return Object.assign(outer, {
    _def: inner._def,
    meta: inner._def.meta,
    procedure: true,
  }) as unknown as AnyTRPCProcedure;
}

type Route = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /api/v1/${string}`;
type EndpointText = { readonly summary: string; readonly description?: string; readonly status?: 200 | 201 };

/** One row of the specification's endpoint table, and what its page says. */
export function endpoint(
  operationId: string,
  route: Route,
  { summary, description, status = 200 }: EndpointText,
): Meta {
  const [method, path] = route.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', `/api/v1/${string}`]; // what Route is made of
  return {
    status,
    openapi: {
      operationId,
      method,
      path,
      summary,
      ...(description === undefined ? {} : { description }),
      protect: false,
      errorResponses: [],
    },
  };
}
