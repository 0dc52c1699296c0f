import type { Role } from '../team.ts';
import type { Member } from './holders.tsx';

export const nameOfRole = ({ name, roleId }: Pick<Role, 'name' | 'roleId'>): string => name ?? roleId;

export const nameOfMember = ({ firstName, lastName, email, userId }: Member): string => {
  const name = [firstName, lastName].filter((part) => part !== null && part !== '').join(' ');
  return name === '' ? (email ?? userId) : name;
};
