import type { Role } from '../team.ts';
import type { Outputs } from '../../../trpc.ts';
import { getRoleLabel } from '../../../components/role-label.ts';

export type Member = Outputs['listTeamMembers'][number];

export const getRoleName = ({ name, roleId }: Pick<Role, 'name' | 'roleId'>): string =>
  name === null ? roleId : getRoleLabel(name);
