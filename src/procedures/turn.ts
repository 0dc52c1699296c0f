import type { AnyTRPCProcedure } from '@trpc/server';
import type { Context } from './context.ts';
import { definitionOf } from './definition.ts';
import type { Meta } from './meta.ts';
import { inputOf, type Middleware } from './middlewares.ts';

/** What the input of a call can name, as what is locked first. */
type Named = { readonly teamId?: string; readonly accountId?: string; readonly ownerId?: string };

/**
 * Returns what names the team or account that a change of an operator is made on, in whose turn it waits: one that is held
 * must not delay the other changes of this operator. Changes of others name their team themselves.
 */
export function inTurnOf(procedure: AnyTRPCProcedure): Middleware<Context> | undefined {
  const { type, meta } = definitionOf<Meta>(procedure);
  const isOperating = meta?.access?.isOperatorApi === true || meta?.access?.operatorOnly === true;
  const { teamId, accountId, ownerId } = inputOf(procedure)?.shape ?? {};
  if (type !== 'mutation' || !isOperating || (teamId ?? accountId ?? ownerId) === undefined) return undefined;
  return ({ input, next }) => {
    const named = input as Named;
    return next({ ctx: { turn: named.teamId ?? named.accountId ?? named.ownerId } });
  };
}
