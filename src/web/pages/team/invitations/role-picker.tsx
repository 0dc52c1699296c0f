import { Radio, Stack } from '@mantine/core';
import { invitationsTexts as words } from '../../../messages/invitations.ts';
import { permissionTexts } from '../../../messages/permissions.ts';
import { getRoleName } from '../roles/role-name.ts';
import type { Role } from '../team.ts';

type RolePickerProps = {
  readonly roles: readonly Role[];
  readonly value: string;
  readonly onChange: (roleId: string) => void;
  readonly disabled: boolean;
};

/** Chooses the role of the invitations, and shows its permissions. */
export const RolePicker = ({ roles, value, onChange, disabled }: RolePickerProps) => (
  <Radio.Group label={words.dialog.role} value={value} onChange={onChange} required withAsterisk={false}>
    <Stack gap="sm" mt="xs">
      {roles.map((role) => (
        <Radio
          key={role.roleId}
          value={role.roleId}
          disabled={disabled}
          label={<span className="wrap">{getRoleName(role)}</span>}
          description={
            role.permissions.length === 0
              ? words.dialog.noPermissions
              : role.permissions.map((permission) => permissionTexts[permission]).join(' · ')
          }
        />
      ))}
    </Stack>
  </Radio.Group>
);
