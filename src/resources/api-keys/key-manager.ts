import type { ActiveMembership } from '../../auth/principal.ts';
import { ProblemError } from '../../errors.ts';
import type { Context } from '../../procedures/context.ts';
import { requirePermission } from '../../auth/permissions.ts';

/**
 * The caller's membership of a team whose keys it may manage. Off the ladder: where the team is
 * optional, what `teamProcedure` checks is checked by the same two functions.
 */
export async function requireKeyManager(ctx: Context, teamId: string): Promise<ActiveMembership> {
  const membership = await ctx.membershipOf(teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  requirePermission(membership.permissions, 'manage_api_keys');
  return membership;
}
