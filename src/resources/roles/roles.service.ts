import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { inCatalogueOrder } from '../../access/permissions.ts';
import { Role, Team, type Permission } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';

type NewRole = { readonly name: string; readonly permissions: readonly Permission[] };

/** Makes a role of the team. Its name is the only one of the team's own roles, whatever its case. */
export async function createRole(em: EntityManager, teamId: string, { name, permissions }: NewRole): Promise<Role> {
  return em.transactional(async (tx) => {
    // The team's row is the lock that its roles' names are compared under.
    const team = await tx.findOne(Team, teamId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (team === null) throw new ProblemError('team_not_found');
    if (await isTaken(tx, teamId, name)) {
      throw new ProblemError('validation_failed', 'The team has a role of that name already.', {
        errors: [{ in: 'body', pointer: '/name', code: 'invalid_value' }],
      });
    }
    return tx.create(Role, { team, name, permissions: inCatalogueOrder(permissions) }, { partial: true }); // isSystemRole is computed
  });
}

async function isTaken(tx: EntityManager, teamId: string, name: string): Promise<boolean> {
  // The collation of the column, which decides what its unique index takes for lower case.
  const rows = await tx.execute('select id from role where team_id = ? and lower(name) = lower(?::text collate "C")', [
    teamId,
    name,
  ]);
  return rows.length > 0;
}
