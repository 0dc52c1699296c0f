import { createElement } from 'react';
import type { BulkAction } from '../../../components/table/bulk/bulk-action.ts';
import { membersTexts } from '../../../messages/members.ts';
import { trpc } from '../../../trpc.ts';
import { getRoleName } from '../roles/role-name.ts';
import type { useTeam } from '../team.ts';
import { BulkRemoval, WITH_INVITATIONS } from './bulk-removal.tsx';
import { actionsOn, type Action, type Member } from './member.ts';

const words = membersTexts.bulk;

/** Returns the actions on several members that the user can take. */
export function memberBulkActions(page: ReturnType<typeof useTeam>, readerId: string): BulkAction<Member>[] {
  const { team, roles, can } = page;
  const canTake = (action: Action) => (member: Member) => actionsOn(member, page, readerId).includes(action);
  const of = ({ accountId }: Member) => ({ teamId: team.id, accountId });
  const assignable = roles.filter(({ isAssignable }) => isAssignable);
  const actions: BulkAction<Member>[] = [];
  if (can('edit_team_settings') && assignable.length > 0) {
    actions.push({
      id: 'role',
      ...words.role,
      applies: canTake('role'),
      choice: {
        label: membersTexts.role,
        options: assignable.map((role) => ({ value: role.roleId, label: getRoleName(role) })),
      },
      call: (member, roleId) => trpc.members.setRole.mutate({ ...of(member), roleId }),
    });
  }
  if (can('remove_members')) {
    actions.push(
      {
        id: 'deactivate',
        ...words.deactivate,
        applies: canTake('deactivate'),
        call: (member) => trpc.members.deactivate.mutate(of(member)),
      },
      {
        id: 'activate',
        ...words.activate,
        applies: canTake('activate'),
        call: (member) => trpc.members.activate.mutate(of(member)),
      },
      {
        id: 'remove',
        ...words.remove,
        color: 'red',
        applies: canTake('remove'),
        details: (given) => createElement(BulkRemoval, given),
        call: (member, chosen) =>
          chosen === WITH_INVITATIONS
            ? trpc.members.removeWithInvitations.mutate(of(member))
            : trpc.removeTeamMember.mutate({ teamId: team.id, userId: member.accountId }),
      },
    );
  }
  return actions;
}
