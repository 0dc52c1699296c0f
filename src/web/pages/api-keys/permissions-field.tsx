import type { Dispatch, SetStateAction } from 'react';
import { groupDeclared, type DeclaredPermission } from '../../components/permissions/groups.ts';
import { PermissionPicker } from '../../components/permissions/permission-picker.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';

type PermissionsFieldProps = {
  readonly offered: readonly DeclaredPermission[];
  readonly isOfTeam: boolean;
  readonly ticked: readonly string[];
  readonly onChange: Dispatch<SetStateAction<readonly string[]>>;
};

/** Chooses what a key can do in the product. */
export const PermissionsField = ({ offered, isOfTeam, ticked, onChange }: PermissionsFieldProps) => (
  <PermissionPicker
    label={words.permissions}
    description={isOfTeam ? words.teamPermissionsHint : words.permissionsHint}
    groups={groupDeclared(offered)}
    ticked={ticked}
    onChange={onChange}
    refusalOf={() => undefined}
  />
);
