import type { Role } from '../team.ts';
import { getRoleLabel } from '../../../components/role-label.ts';

export const getRoleName = ({ name, roleId }: Pick<Role, 'name' | 'roleId'>): string =>
  name === null ? roleId : getRoleLabel(name);
