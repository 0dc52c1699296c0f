import type { Role } from '../team.ts';
import type { Outputs } from '../../../trpc.ts';

export type Member = Outputs['listTeamMembers'][number];

export const getRoleName = ({ name, roleId }: Pick<Role, 'name' | 'roleId'>): string => name ?? roleId;
