import { getDisplayName } from '../../../components/display-name.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import type { Outputs } from '../../../trpc.ts';
import type { useTeam } from '../team.ts';

export type Member = Outputs['members']['list'][number];
export type MemberState = 'active' | 'inactive' | 'expired';

/** Returns the name of a member, or the email if there is none. */
export const getMemberName = (member: Pick<Member, 'firstName' | 'lastName' | 'email'>): string =>
  getDisplayName(member, words.nameless);

export function getMemberState({ isActive, expiresAt }: Pick<Member, 'isActive' | 'expiresAt'>): MemberState {
  if (isActive) return 'active';
  return expiresAt !== null && new Date(expiresAt) <= new Date() ? 'expired' : 'inactive';
}

type TeamPage = ReturnType<typeof useTeam>;
export type Action = 'role' | 'expiry' | 'endless' | 'activate' | 'deactivate' | 'offer' | 'remove';

/** Returns the actions that the user can take on a membership. None for their own and for the owner’s. */
export function actionsOn(member: Member, page: TeamPage, readerId: string): readonly Action[] {
  if (member.roleId === 'owner' || member.accountId === readerId) return [];
  const role = page.roles.find(({ roleId }) => roleId === member.roleId);
  const isAbove = role === undefined || !role.permissions.every((permission) => page.can(permission));
  const actions: Action[] = [];
  if (page.can('edit_team_settings') && !isAbove) actions.push('role');
  if (page.can('remove_members')) {
    // Giving back is granting. An end can be brought forward, whatever the role.
    const isExpired = getMemberState(member) === 'expired';
    if (!isAbove || !isExpired) actions.push('expiry');
    // Activating an expired membership also removes its end date.
    if (!isAbove && member.expiresAt !== null && !isExpired) actions.push('endless');
    if (member.isActive) actions.push('deactivate');
    else if (!isAbove) actions.push('activate');
  }
  if (page.team.role.id === 'owner' && member.isActive) actions.push('offer');
  if (page.can('remove_members')) actions.push('remove');
  return actions;
}
