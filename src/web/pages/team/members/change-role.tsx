import { Button, Radio, Stack } from '@mantine/core';
import { DialogButtons } from '../../../components/dialog-buttons.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { permissionTexts } from '../../../messages/permissions.ts';
import { useTeam, type Role } from '../team.ts';
import type { RowChange } from './changes.ts';
import { getMemberName, type Member } from './member.ts';
import { getRoleName } from '../roles/role-name.ts';
import { useKept } from '../../../kept.ts';

/** The name under which the chosen role is kept. */
export const CHOSEN_ROLE = 'chosen role';

type ChangeRoleProps = {
  readonly member: Member;
  readonly onChange: (change: RowChange) => void;
  readonly onClose: () => void;
};

/** Lists the roles that the user can assign, with their permissions. */
export function ChangeRole({ member, onChange, onClose }: ChangeRoleProps) {
  const { roles } = useTeam();
  const [chosen, setChosen] = useKept(CHOSEN_ROLE, member.roleId);
  const assignable = roles.filter(({ isAssignable }) => isAssignable);
  const name = getMemberName(member);

  const submit = () => {
    const role = assignable.find(({ roleId }) => roleId === chosen);
    onClose();
    if (role === undefined || role.roleId === member.roleId) return;
    const notice = words.roleChanged({ member: name, role: getRoleName(role) });
    onChange({ member, to: { roleId: role.roleId }, notice });
  };
  return (
    <Dialog onClose={onClose} title={words.roleTitle(name)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="lg">
          <Radio.Group
            label={words.roleChoice}
            {...(assignable.length < roles.length - 1 && { description: words.roleOthers })}
            value={chosen}
            onChange={setChosen}
          >
            <Stack gap="md" mt="sm">
              {assignable.map((role) => (
                <Radio
                  key={role.roleId}
                  value={role.roleId}
                  label={getRoleName(role)}
                  description={permissionsOf(role)}
                  className="wrap"
                  {...(role.roleId === chosen && { 'data-autofocus': true })}
                />
              ))}
            </Stack>
          </Radio.Group>
          <DialogButtons onCancel={onClose}>
            <Button type="submit">{words.roleSubmit}</Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  );
}

const permissionsOf = ({ permissions }: Role): string =>
  permissions.length === 0
    ? words.noPermissions
    : permissions.map((permission) => permissionTexts[permission]).join(' · ');
