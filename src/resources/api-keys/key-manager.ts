import type { ActiveMembership } from '../../auth/principal.ts';
import { ProblemError } from '../../problems/error.ts';
import type { Context } from '../../procedures/context.ts';
import { requirePermission } from '../../auth/permissions.ts';

/**
 * Returns the caller's membership of a team whose keys it can manage. For procedures with an optional team, which
 * `teamProcedure` does not fit. @throws team_not_found, permission_missing
 */
export async function requireKeyManager(ctx: Context, teamId: string): Promise<ActiveMembership> {
  const membership = await ctx.findMembership(teamId);
  if (membership === null) throw new ProblemError('team_not_found');
  requirePermission(membership.permissions, 'manage_api_keys');
  return membership;
}
