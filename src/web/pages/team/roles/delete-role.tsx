import { useInvitations, useMembers } from '#client/react';
import { Alert, NativeSelect, Skeleton, Text } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam, type Role } from '../team.ts';
import { getRoleName } from './role-name.ts';

type DeleteRoleProps = { readonly role: Role; readonly onClose: () => void };

/** Deletes a role. Its members and invitations get another one. */
export function DeleteRole({ role, onClose }: DeleteRoleProps) {
  const { team, roles } = useTeam();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const replacements = roles.filter(({ roleId, isAssignable }) => isAssignable && roleId !== role.roleId);
  const form = useCallForm({
    initialValues: { replacementRoleId: '' },
    call: ({ replacementRoleId }) =>
      trpc.roles.delete.mutate({ teamId: team.id, roleId: role.roleId, replacementRoleId }),
    onSuccess: async (_, { replacementRoleId }) => {
      const replacement = roles.find(({ roleId }) => roleId === replacementRoleId);
      await refresh();
      onClose();
      notify(
        words.deleted({
          role: getRoleName(role),
          replacement: replacement === undefined ? replacementRoleId : getRoleName(replacement),
        }),
      );
    },
    onError: () => void refresh(),
    faults: { replacementRoleId: { min_length: words.chooseReplacement, invalid_value: words.replacementGone } },
  });
  return (
    <FormDialog
      title={words.deleteTitle(getRoleName(role))}
      form={form}
      explanation={
        <>
          <div>
            <Moving role={role} />
            <Text>{words.meanwhile}</Text>
          </div>
          {role.roleId === team.role.id && <Alert color="yellow">{words.deleteOwn}</Alert>}
        </>
      }
      submit={words.deleteSubmit}
      isDangerous
      onClose={onClose}
    >
      <NativeSelect
        {...form.field('replacementRoleId')}
        label={words.replacement}
        data={[
          { value: '', label: words.chooseReplacement },
          ...replacements.map((each) => ({ value: each.roleId, label: getRoleName(each) })),
        ]}
        data-autofocus
      />
    </FormDialog>
  );
}

/** The number of members and invitations that get another role. Only users who can invite see the invitations. */
function Moving({ role }: { readonly role: Role }) {
  const { team, can } = useTeam();
  const mayInvite = can('invite_members');
  const members = useMembers(team.id);
  const invitations = useInvitations(mayInvite ? team.id : null);
  if (members.data === undefined || (mayInvite && invitations.data === undefined)) return <Skeleton height={24} />;
  const count = (rows: readonly { readonly roleId: string }[]) =>
    rows.filter(({ roleId }) => roleId === role.roleId).length;
  return (
    <Text role="status">
      {invitations.data === undefined
        ? words.movingMembers(count(members.data))
        : words.moving({ members: count(members.data), invitations: count(invitations.data) })}
    </Text>
  );
}
