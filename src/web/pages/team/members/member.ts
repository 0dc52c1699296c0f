import { membersTexts as words } from '../../../texts/members.ts';
import { query, type Outputs } from '../../../trpc.ts';
import type { Role } from '../team.ts';

export type Member = Outputs['members']['list'][number];
export type MemberState = 'active' | 'inactive' | 'expired';

export const membersOf = (teamId: string) => query('members.list', { teamId });

/** What somebody is called: by their name, else by their address. */
export const nameOf = ({ firstName, lastName, email }: Pick<Member, 'firstName' | 'lastName' | 'email'>): string =>
  [firstName, lastName].filter(Boolean).join(' ') || (email ?? words.nameless);

export function stateOf({ isActive, expiresAt }: Pick<Member, 'isActive' | 'expiresAt'>): MemberState {
  if (isActive) return 'active';
  return expiresAt !== null && new Date(expiresAt) <= new Date() ? 'expired' : 'inactive';
}

const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Finds members by words of their name or address, whatever the case and the accents. */
export function finder(members: readonly Member[]) {
  const entries = members.map((member) => ({
    member,
    text: folded(`${member.firstName ?? ''} ${member.lastName ?? ''} ${member.email ?? ''}`),
  }));
  return (search: string): readonly Member[] => {
    const parts = folded(search).split(/\s+/).filter(Boolean);
    return entries.filter(({ text }) => parts.every((part) => text.includes(part))).map(({ member }) => member);
  };
}

export type Action = 'role' | 'expiry' | 'activate' | 'deactivate' | 'offer' | 'remove';

type Reader = {
  readonly isOwner: boolean;
  readonly accountId: string | undefined;
  readonly roles: readonly Role[];
  readonly can: (permission: Role['permissions'][number]) => boolean;
};

/** What the reader may do to a membership. Their own they only leave; the owner's stays as it is. */
export function actionsOn(member: Member, { isOwner, accountId, roles, can }: Reader): readonly Action[] {
  if (member.roleId === 'owner' || member.userId === accountId) return [];
  const role = roles.find(({ roleId }) => roleId === member.roleId);
  const isAbove = role === undefined || !role.permissions.every(can);
  const actions: Action[] = [];
  if (can('edit_team_settings') && !isAbove) actions.push('role');
  if (can('remove_members') && !isAbove) actions.push('expiry', member.isActive ? 'deactivate' : 'activate');
  if (isOwner && member.isActive) actions.push('offer');
  if (can('remove_members')) actions.push('remove');
  return actions;
}
