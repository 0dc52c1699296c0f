import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useChildMatches } from '@tanstack/react-router';
import { texts } from '../messages/console.ts';
import { SEPARATOR } from '../messages/language.ts';
import { permissionTexts } from '../messages/permissions.ts';
import { refusedTexts as words } from '../messages/refused.ts';
import { maySee, type PageAccess, type Viewer } from '../page-access.ts';
import { me } from '../session.ts';
import type { Outputs } from '../trpc.ts';
import { ButtonLink } from './links.tsx';
import { Page } from './page.tsx';
import { getRoleLabel } from './role-label.ts';

type GuardedOutletProps = Pick<Viewer, 'permissions'> & {
  /** The roles of the team that the user can see. */
  readonly roles?: readonly Outputs['listTeamRoles'][number][];
};

/** The page within a layout, or that the user may not see it. */
export function GuardedOutlet({ permissions, roles = [] }: GuardedOutletProps) {
  const { data: person } = useQuery(me());
  const access = useChildMatches({ select: ([child]) => child?.staticData.access });
  if (access === undefined || maySee(access, { person, permissions })) return <Outlet />;
  const holders = roles.filter((role) => role.permissions.some((permission) => permission === access));
  return (
    <Refused
      access={access}
      roles={holders.map(({ name, roleId }) => (name === null ? roleId : getRoleLabel(name))).join(SEPARATOR)}
    />
  );
}

/** Permissions by their ids. What else a page can require has no text. */
const PERMISSIONS: Readonly<Partial<Record<PageAccess, string>>> = permissionTexts;

function Refused({ access, roles }: { readonly access: PageAccess; readonly roles: string }) {
  const permission = PERMISSIONS[access];
  const isForOperators = access === 'operator';
  return (
    <Page
      title={isForOperators ? words.operatorTitle : words.title}
      explanation={isForOperators ? words.operator : permission && words.permission(permission)}
    >
      {roles !== '' && <Text>{words.roles(roles)}</Text>}
      <div>
        <ButtonLink to="/">{texts.toTeams}</ButtonLink>
      </div>
    </Page>
  );
}
