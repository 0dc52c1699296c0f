import type { Role } from '../team.ts';
import type { Outputs } from '../../../trpc.ts';

export type Member = Outputs['listTeamMembers'][number];

export const nameOfRole = ({ name, roleId }: Pick<Role, 'name' | 'roleId'>): string => name ?? roleId;

export const nameOfMember = ({ firstName, lastName, email, userId }: Member): string => {
  const name = [firstName, lastName].filter((part) => part !== null && part !== '').join(' ');
  return name === '' ? (email ?? userId) : name;
};
