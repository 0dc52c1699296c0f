import { Checkbox, Input, Stack } from '@mantine/core';
import { memo, useId, type Dispatch, type ReactNode, type SetStateAction } from 'react';
import { permissionsTexts as words } from '../../messages/permissions.ts';
import type { ListedPermission, PermissionGroup } from './groups.ts';
import { GroupTitle } from './group-title.tsx';
import { PermissionSearch } from './permission-search.tsx';
import { PermissionTitle } from './permission-title.tsx';
import { useGroups, type OpenGroup } from './use-groups.ts';
import './permissions.css';

type PermissionPickerProps = {
  readonly label: string;
  readonly description?: ReactNode;
  readonly groups: readonly PermissionGroup[];
  /** Names of permissions. */
  readonly ticked: readonly string[];
  /** A setter of React: always the same one, so that a click renders one checkbox and not 500. */
  readonly onChange: Dispatch<SetStateAction<readonly string[]>>;
  /** Why a permission cannot be chosen; undefined if it can. */
  readonly refusalOf: (name: string) => string | undefined;
};

/** A checkbox for each permission, by groups. */
export function PermissionPicker({ label, description, groups, ticked, onChange, refusalOf }: PermissionPickerProps) {
  const id = useId();
  const shown = useGroups(groups);
  const names = new Set(ticked);
  return (
    <div role="group" aria-labelledby={id}>
      <Input.Label labelElement="div" id={id}>
        {label}
      </Input.Label>
      {description !== undefined && <Input.Description size="sm">{description}</Input.Description>}
      {shown.isLong && <PermissionSearch {...shown} />}
      {shown.groups.map((group) => (
        <PickerGroup
          key={group.title}
          group={group}
          isTitled={groups.length > 1}
          onOpen={shown.toggle}
          ticked={names}
          onChange={onChange}
          refusalOf={refusalOf}
        />
      ))}
    </div>
  );
}

type PickerGroupProps = Pick<PermissionPickerProps, 'onChange' | 'refusalOf'> & {
  readonly ticked: ReadonlySet<string>;
  readonly group: OpenGroup;
  readonly isTitled: boolean;
  readonly onOpen: (title: string) => void;
};

function PickerGroup({ group, isTitled, onOpen, ticked, onChange, refusalOf }: PickerGroupProps) {
  const id = useId();
  const { permissions, isOpen } = group;
  const selected = permissions.filter(({ name }) => ticked.has(name)).length;
  return (
    <div {...(isTitled && { role: 'group', 'aria-labelledby': id })}>
      {isTitled && (
        <GroupTitle id={id} group={group} onToggle={onOpen}>
          {words.selected({ selected, count: permissions.length })}
        </GroupTitle>
      )}
      {isOpen && (
        <Stack gap="sm" mt="xs">
          {permissions.map((permission) => (
            <Choice
              key={permission.name}
              permission={permission}
              isTicked={ticked.has(permission.name)}
              refusal={refusalOf(permission.name)}
              onChange={onChange}
            />
          ))}
        </Stack>
      )}
    </div>
  );
}

type ChoiceProps = {
  readonly permission: ListedPermission;
  readonly isTicked: boolean;
  readonly refusal: string | undefined;
  readonly onChange: PermissionPickerProps['onChange'];
};

const toggle = (ticked: readonly string[], name: string): readonly string[] =>
  ticked.includes(name) ? ticked.filter((one) => one !== name) : [...ticked, name];

const Choice = memo(({ permission, isTicked, refusal, onChange }: ChoiceProps) => (
  <Checkbox
    checked={isTicked && refusal === undefined}
    onChange={() => onChange((before) => toggle(before, permission.name))}
    label={<PermissionTitle {...permission} />}
    description={refusal ?? permission.description}
    disabled={refusal !== undefined}
  />
));
