import type { AnyTRPCProcedure } from '@trpc/server';
import { requireRecentProof } from '../auth/recent-proof.ts';
import type { Context } from './context.ts';
import { definitionOf } from './definition.ts';
import type { Middleware } from './middlewares.ts';

/**
 * What a mutation does to the access to an account or team. Every mutation declares it, and the recent proof that it
 * needs follows from it.
 *
 * - `widens`: it creates, widens or redirects access that lasts, such as a key or the consent to an application.
 * - `weakens`: it takes a protection away, such as a password or an owner.
 * - `… by link`: the emailed link in its input is the proof.
 * - `widens if …`: its service decides under its locks, by `requireProofIf`.
 */
export type Effect = 'none' | 'widens' | 'weakens' | 'weakens by link' | `widens if ${string}`;

const effectOf = (procedure: AnyTRPCProcedure) => definitionOf<{ readonly effect?: Effect }>(procedure).meta?.effect;

/** Requires that a procedure declares what it changes, so that none is added whose effect nobody has considered. */
export function requireEffect(name: string, procedure: AnyTRPCProcedure): void {
  if (definitionOf(procedure).type !== 'mutation' || effectOf(procedure) !== undefined) return;
  throw new Error(`The mutation ${name} does not declare its effect, such as \`.meta({ effect: 'none' })\`.`);
}

/** Returns what requires the proof that the effect of a procedure needs in any case. */
export function provenFor(procedure: AnyTRPCProcedure): Middleware<Context> | undefined {
  const effect = effectOf(procedure);
  if (effect !== 'widens' && effect !== 'weakens') return undefined;
  return async ({ ctx, next }) => {
    const { principal } = ctx.authentication;
    if (principal !== null) await requireRecentProof(ctx.services.db, principal);
    return next();
  };
}
