import { Code, Text } from '@mantine/core';
import { chooseText } from '../../../messages/localized.ts';
import { PermissionTitle } from '../../components/permissions/permission-title.tsx';
import type { Column } from '../../components/table/column.ts';
import { language, SEPARATOR } from '../../messages/language.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { permissionsTexts } from '../../messages/permissions.ts';
import { systemRoleTexts } from '../../messages/roles.ts';
import type { Outputs } from '../../trpc.ts';

type Held = Outputs['operator']['permissionHolders'][number];

/** A permission of the catalogue, with the number of its holders once they are known. */
export type CataloguePermission = Outputs['operator']['getPermissions']['permissions'][number] & {
  readonly held: Held | undefined;
};

const words = areaTexts.permissions;

const toText = (text: Readonly<Record<string, string>> | null): string =>
  text === null ? '' : chooseText(text, language);

const toGroup = ({ group, name }: CataloguePermission): string =>
  group === null ? name.slice(0, name.indexOf(':')) : toText(group);

const toRoles = ({ roles }: CataloguePermission): string =>
  ['Owner' as const, ...roles.map((role) => (role === 'member' ? ('Member' as const) : ('Guest' as const)))]
    .map((role) => systemRoleTexts[role])
    .join(SEPARATOR);

const toHeld = ({ held }: CataloguePermission): string =>
  held === undefined ? '' : words.held({ roles: held.roles, keys: held.keys, clients: held.clients });

export const permissionColumns: readonly Column<CataloguePermission>[] = [
  {
    id: 'permission',
    title: permissionsTexts.permission,
    value: ({ name }) => name,
    cell: (permission) => <PermissionCell permission={permission} />,
    search: ({ name, title, description }) => `${name} ${toText(title)} ${toText(description)}`,
    width: '40%',
  },
  { id: 'group', title: words.group, value: toGroup, cell: toGroup, isLabelled: true },
  { id: 'roles', title: words.systemRoles, value: toRoles, cell: toRoles, isLabelled: true },
  {
    id: 'keys',
    title: words.forKeys,
    value: ({ keys }) => (keys ? permissionsTexts.yes : permissionsTexts.no),
    cell: ({ keys }) => (keys ? permissionsTexts.yes : permissionsTexts.no),
    isLabelled: true,
  },
  { id: 'holders', title: words.holders, value: toHeld, cell: toHeld, isLabelled: true },
];

function PermissionCell({ permission }: { readonly permission: CataloguePermission }) {
  const { name, title, description, sensitive, deprecated } = permission;
  return (
    <>
      <Text size="sm" fw={600} component="h2" className="wrap">
        <PermissionTitle title={toText(title)} isSensitive={sensitive} isDeprecated={deprecated} />
      </Text>
      <Code className="wrap">{name}</Code>
      {description !== null && (
        <Text size="sm" className="wrap">
          <bdi>{toText(description)}</bdi>
        </Text>
      )}
    </>
  );
}
