import type { EntityManager } from '@mikro-orm/postgresql';
import { Role } from '../../entities/index.ts';
import { invalidInput } from '../../errors.ts';

/** Finds a role of the team or a system role. @throws validation_failed (400) at `pointer` if there is none */
export async function findTeamRole(tx: EntityManager, teamId: string, roleId: string, pointer: string): Promise<Role> {
  const role = await tx.findOne(Role, { id: roleId, $or: [{ team: null }, { team: teamId }] });
  if (role === null) throw invalidInput(pointer, 'The team has no role with this id.');
  return role;
}
