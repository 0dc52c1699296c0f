import { initTRPC, type AnyTRPCProcedure, type TRPCError } from '@trpc/server';
import { authorize } from './authorize.ts';
import type { Builder } from './builder.ts';
import type { Meta } from './meta.ts';
import { runAs } from '../events/actor.ts';
import { callerOf } from '../auth/authenticate.ts';
import { toActor, type Context } from './context.ts';
import { definitionOf, withDefinitionOf } from './definition.ts';
import { provenFor, requireEffect, type Effect } from './effect.ts';
import { createProblemDocument, toProblemError } from './problem-details.ts';
import { onceForKey } from './idempotency-key.ts';
import { requireKnownMembers } from './known-members.ts';
import { presentLists } from './lists.ts';
import { inTurnOf } from './turn.ts';
import { runnerOf, validateInputs, wrapOutput, type CallOptions } from './middlewares.ts';

/** The contexts of errors that tRPC reports without one. */
const contexts = new WeakMap<TRPCError, Context>();

/** Associates an error with its request context for the error formatter. */
export const setErrorContext = (error: TRPCError, ctx: Context): void => void contexts.set(error, ctx);

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    // tRPC clients get the same problem document as REST clients, in `error.data.problem`.
    errorFormatter: ({ shape, error, ctx = contexts.get(error), input, path }) => {
      // The error of a whole request takes precedence, also over an unknown procedure.
      const failure = ctx?.blocked ?? toProblemError(error, { raw: input, locationOf: () => 'body' });
      const problem = createProblemDocument(failure, ctx?.services.config.baseUrl ?? '', ctx?.requestIds ?? null);
      return {
        message: failure.message,
        code: shape.code,
        data: { code: failure.code, httpStatus: problem.status, ...(path === undefined ? {} : { path }), problem },
      };
    },
  });

export const { mergeRouters } = t;

export const procedure = t.procedure as unknown as Builder;

/** Creates a router whose procedures check credential, scope and audience before they read their input. */
export const router: typeof t.router = (procedures) => {
  const entries = Object.entries(procedures).map(([name, entry]) => [
    name,
    typeof entry === 'function' ? authorizeFirst(name, entry as AnyTRPCProcedure) : entry, // routers are objects, procedures functions
  ]);
  return t.router(Object.fromEntries(entries));
};

// Wraps the procedure instead of adding a middleware, which would cost a step and a copy of all options.
function authorizeFirst(name: string, inner: AnyTRPCProcedure): AnyTRPCProcedure {
  requireEffect(name, inner);
  const { meta, type } = definitionOf<Meta>(inner);
  const access = meta?.access;
  validateInputs(inner);
  wrapOutput<Context>(inner, [provenFor(inner), inTurnOf(inner), onceForKey(inner)], presentLists);
  const runner = runnerOf<Context>(inner);
  const run = access?.isOperatorApi ? requireKnownMembers(inner, runner) : runner;
  // Queries record no events, except those of operators, who can see all data. Those of operator keys are counted.
  const isOperator = access?.operatorOnly === true;
  const isRecorded = (type === 'mutation' && !meta?.readsOnly) || isOperator;
  const read = access?.isOperatorApi && !isRecorded ? { operation: meta?.openapi?.operationId ?? 'unknown' } : null;
  const outer = async (options: CallOptions<Context>) => {
    if (options.ctx.blocked !== null) throw options.ctx.blocked;
    if (access !== undefined) authorize(options.ctx.authentication, access);
    if (read !== null) noteRead(options.ctx, read);
    return isRecorded ? runAs(toActor(options.ctx, isOperator), () => run(options)) : run(options);
  };
  return withDefinitionOf(inner, outer);
}

function noteRead(
  { operatorReads, authentication, address, requestIds }: Context,
  of: { readonly operation: string },
): void {
  const caller = callerOf(authentication);
  if (caller !== null) operatorReads.note({ credentialId: caller.credentialId, address, of }, requestIds);
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Path = `/api/v1/${string}` | `/operator/v1/${string}`;
type Route = `${Method} ${Path}`;
type Endpoint = Omit<Meta, 'access' | 'authenticates' | 'openapi'> & {
  readonly summary: string;
  readonly description?: string;
  readonly returns: string;
};
type Declared = { readonly effect: Effect };

/** Describes the REST endpoint of a procedure: a row of the contract's table, with its documentation. */
export function endpoint(operationId: string, route: Route, described: Endpoint & Declared): Meta & Declared;
export function endpoint(operationId: string, route: Route, described: Endpoint): Meta;
export function endpoint(operationId: string, route: Route, { summary, description, ...meta }: Endpoint): Meta {
  const [method, path] = route.split(' ') as [Method, Path]; // the parts of Route
  return {
    status: 200,
    errors: [],
    ...meta,
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
