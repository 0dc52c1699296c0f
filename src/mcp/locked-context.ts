import { findActiveMembership } from '../auth/authenticate.ts';
import type { Context } from '../procedures/context.ts';
import { type Change, joined } from '../transactions/steps.ts';
import { lockOne } from '../transactions/locks.ts';
import { change } from '../transactions/change.ts';
import type { Arguments } from './results.ts';
import type { Tool } from './tools.ts';

/**
 * Locks what a tool changes, the team or else the caller's account, and runs `work` with a context that reads and
 * changes everything in that transaction. Call it for callers who can make the change only, because others wait for the
 * lock.
 */
export function withLocked<R>(
  ctx: Context,
  { isAccountLevel }: Tool,
  input: Arguments,
  work: (locked: Context) => Promise<R>,
): Promise<R> {
  const { services, authentication } = ctx;
  const { principal } = authentication;
  const run = (tx: Change) => {
    const db = joined(services.db, tx);
    return work({
      ...ctx,
      services: { ...services, db },
      // The one that authenticated the call can be outdated.
      findMembership: async (id) => (principal === null ? null : findActiveMembership(db, principal, id)),
    });
  };
  if (principal === null) return work(ctx);
  const { accountId } = principal;
  if (isAccountLevel)
    return change(services.db, principal, { on: { account: accountId }, requires: 'self' }, (tx) => run(tx));
  const { teamId, userId } = input as { readonly teamId: string; readonly userId?: unknown }; // its procedure has validated it
  const spec = { on: { team: teamId }, requires: 'member' } as const;
  return change(services.db, { teamId, accountId, credential: principal }, spec, async (tx) => {
    // That of a member too: the description names them.
    if (typeof userId === 'string') await lockOne(tx, 'account', userId, 'share');
    return run(tx);
  });
}
