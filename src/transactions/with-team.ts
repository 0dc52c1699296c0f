import type { EntityManager } from '@mikro-orm/postgresql';
import type { ActiveMembership } from '../auth/principal.ts';
import type { Permission } from '../entities/index.ts';
import { ProblemError } from '../errors.ts';
import { lockTeam } from './locks.ts';

/** What the caller is in the team now. */
export type Standing = { readonly roleId: string; readonly permissions: readonly Permission[] };

/**
 * Locks the team and looks again at what its caller may do: under the lock nobody's role changes any
 * more, so that a decision does not stand on what was true when the call began.
 */
export async function lockTeamAs(tx: EntityManager, { team, accountId }: ActiveMembership): Promise<Standing> {
  await lockTeam(tx, team.id);
  const [row] = await tx.execute<{ role_id: string; permissions: Permission[] }[]>(
    `select m.role_id, r.permissions
     from membership m
     join role r on r.id = m.role_id
     join account a on a.id = m.account_id
     where m.team_id = ? and m.account_id = ? and m.is_active and (m.expires_at is null or m.expires_at > now())
     for key share of a`,
    [team.id, accountId],
  );
  if (row === undefined) throw new ProblemError('team_not_found');
  return { roleId: row.role_id, permissions: row.permissions };
}
