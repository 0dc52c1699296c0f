import { Alert, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../../components/call-form.ts';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { texts } from '../../../messages/console.ts';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam, type Permission, type Role } from '../team.ts';
import { getRoleName } from './role-name.ts';
import { PermissionChoice } from './permission-choice.tsx';

type RoleFields = { readonly name: string; readonly permissions: Permission[] };

type RoleDialogProps = {
  readonly title: string;
  readonly submit: string;
  readonly role?: Role;
  readonly call: (fields: RoleFields) => Promise<Role>;
  readonly done: (role: string) => string;
  readonly onClose: () => void;
};

export function CreateRole({ onClose }: { readonly onClose: () => void }) {
  const { team } = useTeam();
  return (
    <RoleDialog
      title={words.create}
      submit={words.submit}
      call={(fields) => trpc.roles.create.mutate({ teamId: team.id, ...fields })}
      done={words.created}
      onClose={onClose}
    />
  );
}

export function EditRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  const { team } = useTeam();
  return (
    <RoleDialog
      title={words.editOf(getRoleName(role))}
      submit={texts.save}
      role={role}
      call={(fields) => trpc.roles.update.mutate({ teamId: team.id, roleId: role.roleId, ...fields })}
      done={words.edited}
      onClose={onClose}
    />
  );
}

function RoleDialog({ title, submit, role, call, done, onClose }: RoleDialogProps) {
  const { team, can } = useTeam();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const [ticked, setTicked] = useState<readonly Permission[]>(role?.permissions ?? []);
  const form = useCallForm({
    initialValues: { name: role?.name ?? '' },
    call: ({ name }) => call({ name: name.trim(), permissions: ticked.filter(can) }),
    onSuccess: async (saved) => {
      await refresh();
      onClose();
      notify(done(getRoleName(saved)));
    },
    onError: () => void refresh(),
    faults: { name: { invalid_value: words.nameTaken } },
  });
  return (
    <FormDialog title={title} form={form} submit={submit} onClose={onClose}>
      {role !== undefined && role.roleId === team.role.id && <Alert color="yellow">{words.editOwn}</Alert>}
      <TextInput
        {...form.field('name')}
        label={words.name}
        description={words.nameHint}
        autoComplete="off"
        required
        data-autofocus
      />
      <PermissionChoice ticked={ticked} onChange={setTicked} />
    </FormDialog>
  );
}
