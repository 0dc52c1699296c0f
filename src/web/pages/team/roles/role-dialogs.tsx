import { Alert, TextInput } from '@mantine/core';
import { useCallForm } from '../../../components/call-form.ts';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { groupDeclared, teamGroup, type DeclaredPermission } from '../../../components/permissions/groups.ts';
import { PermissionPicker } from '../../../components/permissions/permission-picker.tsx';
import { useNotice } from '../../../components/notices.tsx';
import { texts } from '../../../messages/console.ts';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { trpc } from '../../../trpc.ts';
import { useTeamRefresh } from '../refresh.ts';
import { useTeam, type Permission } from '../team.ts';
import { getRoleName } from './role-name.ts';
import { getPermissions, isOwnPermission, type FullRole } from './role.ts';
import { useKept } from '../../../kept.ts';

type RoleFields = {
  readonly name: string;
  readonly permissions: Permission[];
  readonly productPermissions?: string[];
};

/** What the operator declares; undefined if it is not known. Then a dialog leaves the permissions of the product. */
type Declared = { readonly declared: readonly DeclaredPermission[] | undefined };

type RoleDialogProps = Declared & {
  readonly title: string;
  readonly submit: string;
  readonly role?: FullRole;
  readonly call: (fields: RoleFields) => Promise<FullRole>;
  readonly done: (role: string) => string;
  readonly onClose: () => void;
};

export function CreateRole({ declared, onClose }: Declared & { readonly onClose: () => void }) {
  const { team } = useTeam();
  return (
    <RoleDialog
      title={words.create}
      submit={words.submit}
      declared={declared}
      call={(fields) => trpc.roles.create.mutate({ teamId: team.id, ...fields })}
      done={words.created}
      onClose={onClose}
    />
  );
}

type EditRoleProps = Declared & { readonly role: FullRole; readonly onClose: () => void };

export function EditRole({ role, declared, onClose }: EditRoleProps) {
  const { team } = useTeam();
  return (
    <RoleDialog
      title={words.editOf(getRoleName(role))}
      submit={texts.save}
      role={role}
      declared={declared}
      call={(fields) => trpc.roles.update.mutate({ teamId: team.id, roleId: role.roleId, ...fields })}
      done={words.edited}
      onClose={onClose}
    />
  );
}

function RoleDialog({ title, submit, role, declared, call, done, onClose }: RoleDialogProps) {
  const { team, holds } = useTeam();
  const notify = useNotice();
  const refresh = useTeamRefresh();
  const [ticked, setTicked] = useKept<readonly string[]>(
    role === undefined ? 'new permissions' : 'permissions',
    role === undefined ? [] : getPermissions(role),
  );
  const form = useCallForm({
    initialValues: { name: role?.name ?? '' },
    isNew: role === undefined,
    call: ({ name }) => {
      const given = ticked.filter(holds);
      return call({
        name: name.trim(),
        permissions: given.filter(isOwnPermission),
        ...(declared !== undefined && { productPermissions: given.filter((one) => !isOwnPermission(one)) }),
      });
    },
    onSuccess: async (saved) => {
      await refresh();
      onClose();
      notify(done(getRoleName(saved)));
    },
    onError: () => void refresh(),
    faults: { name: { invalid_value: words.nameTaken } },
  });
  const offered = (declared ?? []).filter(
    ({ name, isDeprecated }) => !isDeprecated || role?.productPermissions.includes(name) === true,
  );
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
      <PermissionPicker
        label={words.permissions}
        groups={[teamGroup(), ...groupDeclared(offered)]}
        ticked={ticked}
        onChange={setTicked}
        refusalOf={(permission) => (holds(permission) ? undefined : words.notHeld)}
      />
    </FormDialog>
  );
}
