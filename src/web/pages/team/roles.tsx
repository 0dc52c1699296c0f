import { useMembers } from '#client/react';
import { Alert, Button, EmptyState, Paper, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { People } from '../../components/icons.tsx';
import { Page } from '../../components/page.tsx';
import { rolesTexts as words } from '../../messages/roles.ts';
import { toFailure } from '../../trpc.ts';
import { Catalogue } from './roles/catalogue.tsx';
import { DeleteRole } from './roles/delete-role.tsx';
import { CreateRole, EditRole } from './roles/role-dialogs.tsx';
import { RoleRow, type RoleRowProps } from './roles/role-row.tsx';
import { useTeam, type Role } from './team.ts';
import './roles/roles.css';

type Asking = { readonly what: 'create' } | { readonly what: 'edit' | 'delete'; readonly role: Role };

/** The roles of the team, their members, and what each permission allows. */
export function RolesPage() {
  const { team, roles, can } = useTeam();
  const isVisible = can('access_dashboard');
  const members = useMembers(isVisible ? team.id : null);
  // Kept here, because a dialog can outlive the row of a role that was deleted.
  const [asking, setAsking] = useState<Asking>();
  const close = () => setAsking(undefined);
  const mayEdit = can('edit_team_settings');
  const create = mayEdit && <Button onClick={() => setAsking({ what: 'create' })}>{words.create}</Button>;
  const own = roles.filter(({ isSystemRole }) => !isSystemRole);
  const list = {
    members: members.data,
    onEdit: (role: Role) => setAsking({ what: 'edit', role }),
    onDelete: (role: Role) => setAsking({ what: 'delete', role }),
  };
  if (!isVisible) {
    return (
      <Page title={words.title} explanation={words.explanation}>
        <Alert color="gray">{words.hidden}</Alert>
      </Page>
    );
  }
  return (
    <Page title={words.title} explanation={words.explanation} action={own.length > 0 && create}>
      {!mayEdit && <Alert color="gray">{words.readOnly}</Alert>}
      {members.error !== null && (
        <FailureAlert failure={toFailure(members.error)} retry={() => void members.refetch()} />
      )}
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
      <Catalogue />
      {asking?.what === 'create' && <CreateRole onClose={close} />}
      {asking?.what === 'edit' && <EditRole role={asking.role} onClose={close} />}
      {asking?.what === 'delete' && <DeleteRole role={asking.role} onClose={close} />}
    </Page>
  );
}

type RoleListProps = Omit<RoleRowProps, 'role'> & { readonly title: string; readonly roles: readonly Role[] };

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
