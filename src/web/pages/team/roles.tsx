import { useMembers } from '#client/react';
import { Alert, Button, EmptyState, Paper, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { People } from '../../components/icon.tsx';
import { Page, Placeholder } from '../../components/page.tsx';
import { rolesTexts as words } from '../../messages/roles.ts';
import { permissionsQuery } from '../../page-queries.ts';
import { query, toFailure } from '../../trpc.ts';
import { DeleteRole } from './roles/delete-role.tsx';
import { PermissionMatrix } from './roles/permission-matrix.tsx';
import type { FullRole } from './roles/role.ts';
import { CreateRole, EditRole } from './roles/role-dialogs.tsx';
import { RoleRow, type RoleRowProps } from './roles/role-row.tsx';
import { useTeam } from './team.ts';
import './roles/roles.css';
import { useKept } from '../../kept.ts';

type Asking = { readonly what: 'create' } | { readonly what: 'edit' | 'delete'; readonly role: FullRole };

/** The roles of the team, their members, and what each permission allows. */
export function RolesPage() {
  const { team, can } = useTeam();
  const listed = useQuery(query('roles.list', { teamId: team.id }));
  const declared = useQuery(permissionsQuery());
  const members = useMembers(team.id);
  // Kept here, because a dialog can outlive the row of a role that was deleted.
  const [asking, setAsking] = useKept<Asking | undefined>('dialog', undefined);
  const close = () => setAsking(undefined);
  const mayEdit = can('edit_team_settings');
  const create = mayEdit && <Button onClick={() => setAsking({ what: 'create' })}>{words.create}</Button>;
  const roles = listed.data ?? [];
  const own = roles.filter(({ isSystemRole }) => !isSystemRole);
  const list = {
    members: members.data,
    declared: declared.data,
    onEdit: (role: FullRole) => setAsking({ what: 'edit', role }),
    onDelete: (role: FullRole) => setAsking({ what: 'delete', role }),
  };
  return (
    <Page title={words.title} explanation={words.explanation} action={own.length > 0 && create}>
      {!mayEdit && <Alert color="gray">{words.readOnly}</Alert>}
      {[members, listed, declared].map(
        ({ error, refetch }, i) =>
          error !== null && <FailureAlert key={i} failure={toFailure(error)} retry={() => void refetch()} />,
      )}
      {listed.data === undefined && listed.error === null && <Placeholder rows={4} height={96} />}
      {listed.data !== undefined && (
        <>
          <RoleList title={words.builtIn} roles={roles.filter(({ isSystemRole }) => isSystemRole)} {...list} />
          {own.length > 0 ? (
            <RoleList title={words.own} roles={own} {...list} />
          ) : (
            <Paper withBorder radius="lg" className="empty">
              <EmptyState
                variant="light"
                icon={<People />}
                title={words.emptyTitle}
                description={mayEdit ? words.empty : words.emptyReadOnly}
              >
                {create !== false && <EmptyState.Actions>{create}</EmptyState.Actions>}
              </EmptyState>
            </Paper>
          )}
          <PermissionMatrix roles={roles} declared={declared.data ?? []} />
        </>
      )}
      {asking?.what === 'create' && <CreateRole declared={declared.data} onClose={close} />}
      {asking?.what === 'edit' && <EditRole role={asking.role} declared={declared.data} onClose={close} />}
      {asking?.what === 'delete' && <DeleteRole role={asking.role} onClose={close} />}
    </Page>
  );
}

type RoleListProps = Omit<RoleRowProps, 'role'> & { readonly title: string; readonly roles: readonly FullRole[] };

function RoleList({ title, roles, ...row }: RoleListProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Title order={2} size="h4" id={id} mb="sm">
        {title}
      </Title>
      <Paper component="ul" withBorder radius="lg" className="card-list">
        {roles.map((role) => (
          <RoleRow key={role.roleId} role={role} {...row} />
        ))}
      </Paper>
    </section>
  );
}
