import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';

/** A middleware of a procedure as tRPC keeps it. */
export type KeptMiddleware = ((options: never) => Promise<unknown>) & { readonly _type?: string };

/** What tRPC keeps of a procedure. trpc-to-openapi reads `inputs` and `output` too. */
export type Definition<Meta = object> = {
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly inputs: readonly z.ZodType[];
  readonly output?: z.ZodType;
  readonly meta?: Meta;
  readonly middlewares: KeptMiddleware[];
};

/** Returns how a procedure is made. `Meta` is that of all procedures, which `trpc.ts` builds. */
export const definitionOf = <Meta = object>(procedure: AnyTRPCProcedure): Definition<Meta> =>
  procedure._def as unknown as Definition<Meta>;

/** Returns a procedure that runs another function, and is otherwise the same. */
export const withDefinitionOf = (procedure: AnyTRPCProcedure, run: object): AnyTRPCProcedure =>
  Object.assign(run, {
    _def: procedure._def,
    meta: procedure._def.meta,
    procedure: true,
  }) as unknown as AnyTRPCProcedure;

/** Returns the procedures of a router by their full names, unlike the type of a router that contains others. */
export const proceduresOf = (router: Pick<AnyTRPCRouter, '_def'>): Readonly<Record<string, AnyTRPCProcedure>> =>
  router._def.procedures as unknown as Record<string, AnyTRPCProcedure>;
