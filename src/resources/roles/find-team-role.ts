import type { EntityManager } from '@mikro-orm/postgresql';
import { Role } from '../../entities/index.ts';
import { invalidInput } from '../../errors.ts';

/** Finds a role of the team or of the system; answers 400 at `pointer` if there is none of that id. */
export async function findTeamRole(tx: EntityManager, teamId: string, roleId: string, pointer: string): Promise<Role> {
  const role = await tx.findOne(Role, { id: roleId, $or: [{ team: null }, { team: teamId }] });
  if (role === null) throw invalidInput(pointer, 'No role of this team has that id.');
  return role;
}
