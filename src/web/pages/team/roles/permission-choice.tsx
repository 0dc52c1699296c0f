import { Checkbox, Stack } from '@mantine/core';
import { permissionTexts } from '../../../messages/permissions.ts';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { useTeam, type Permission } from '../team.ts';
import { PERMISSIONS } from './permissions.ts';

type PermissionChoiceProps = {
  readonly ticked: readonly Permission[];
  readonly onChange: (ticked: readonly Permission[]) => void;
};

/** A checkbox for each permission. Permissions that the user does not have are disabled, with an explanation. */
export function PermissionChoice({ ticked, onChange }: PermissionChoiceProps) {
  const { can } = useTeam();
  return (
    <Checkbox.Group
      label={words.permissions}
      value={ticked.filter(can)}
      onChange={(next) => onChange(PERMISSIONS.filter((permission) => next.includes(permission)))}
    >
      <Stack gap="sm" mt="xs">
        {PERMISSIONS.map((permission) => (
          <Checkbox
            key={permission}
            value={permission}
            label={permissionTexts[permission]}
            description={can(permission) ? words.catalogue.details[permission] : words.notHeld}
            disabled={!can(permission)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
