import { NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { texts } from '../../messages/console.ts';
import { getRoleLabel } from '../../components/role-label.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { findAccountReference, toDay, toInstant } from './values.ts';

const words = areaTexts.members;

export type Member = Outputs['operator']['listMembers']['members'][number];

type DialogProps = {
  readonly teamId: string;
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

type Choice = { readonly value: string; readonly label: string };

/** Returns the roles that a member can get; undefined while they are read, because a field keeps its first choices. */
function useRoles(teamId: string): readonly Choice[] | undefined {
  const { data, error } = useQuery(query('operator.roles', { teamId }));
  return error === null ? data?.map(({ id, name }) => ({ value: id, label: getRoleLabel(name) })) : [];
}

/** Adds an account to a team without an invitation. */
export function AddMember(props: DialogProps) {
  const roles = useRoles(props.teamId);
  return roles && <AddForm {...props} roles={roles} />;
}

function AddForm({ teamId, roles, reread, onClose }: DialogProps & { readonly roles: readonly Choice[] }) {
  const notify = useNotice();
  const form = useCallForm({
    initialValues: { accountId: '', roleId: 'member' },
    call: async ({ accountId, roleId }) => {
      await trpc.operator.addMember.mutate({ teamId, accountId: await findAccountReference(accountId), roleId });
      await reread();
    },
    fieldOf: { account_not_found: 'accountId', already_taken: 'accountId', role_not_assignable: 'roleId' },
    onSuccess: () => {
      onClose();
      notify(words.added);
    },
  });
  return (
    <FormDialog title={words.add} form={form} submit={words.add} isIncomplete={roles.length === 0} onClose={onClose}>
      <TextInput
        {...form.field('accountId')}
        label={words.account}
        description={words.accountHint}
        autoComplete="off"
        required
        data-autofocus
      />
      <NativeSelect {...form.field('roleId')} label={words.role} data={[...roles]} />
    </FormDialog>
  );
}

type ChangeProps = DialogProps & { readonly member: Member };

/** Changes the role, the state and the end of a membership. */
export function ChangeMember(props: ChangeProps) {
  const roles = useRoles(props.teamId);
  const { id, name } = props.member.role;
  if (roles === undefined) return null;
  const isKnown = roles.some(({ value }) => value === id);
  return <ChangeForm {...props} roles={isKnown ? roles : [{ value: id, label: getRoleLabel(name) }, ...roles]} />;
}

function ChangeForm({ teamId, member, roles, reread, onClose }: ChangeProps & { readonly roles: readonly Choice[] }) {
  const notify = useNotice();
  const { accountId, role, expiresAt } = member;
  const day = toDay(expiresAt);
  const form = useCallForm({
    initialValues: { roleId: role.id, isActive: String(member.isActive), expiresAt: day },
    call: async (values) => {
      const end = values.expiresAt === '' ? null : toInstant(values.expiresAt, true);
      await trpc.operator.updateMember.mutate({
        teamId,
        accountId,
        ...(values.roleId !== role.id && { roleId: values.roleId }),
        ...(values.isActive !== String(member.isActive) && { isActive: values.isActive === 'true' }),
        ...(values.expiresAt !== day && { expiresAt: end }),
      });
      await reread();
    },
    fieldOf: { role_not_assignable: 'roleId' },
    onSuccess: () => {
      onClose();
      notify(words.changed);
    },
    onError: () => void reread(),
  });
  return (
    <FormDialog title={words.changeOf(getAccountName(member))} form={form} submit={texts.save} onClose={onClose}>
      <NativeSelect {...form.field('roleId')} label={words.role} data={[...roles]} data-autofocus />
      <NativeSelect
        {...form.field('isActive')}
        label={words.state}
        data={[
          { value: 'true', label: words.states.active },
          { value: 'false', label: words.states.inactive },
        ]}
      />
      <TextInput {...form.field('expiresAt')} type="date" max="9999-12-31" label={texts.optional(words.end)} />
    </FormDialog>
  );
}
