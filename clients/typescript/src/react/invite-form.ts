import { useState } from 'react';
import { useInvite } from './actions.ts';
import { documentOf, problemOf } from './problem.ts';
import { useRoles } from './queries.ts';

export type FieldErrors = { readonly email?: string; readonly roleId?: string };

/** The state of an invite form: fields, assignable roles, errors by field, and the email address that was invited last. */
export function useInviteForm(teamId: string) {
  const roles = useRoles(teamId);
  const invite = useInvite(teamId);
  const [email, setEmail] = useState('');
  const [roleId, setRoleId] = useState<string | null>(null);
  const assignable = (roles.data ?? []).filter(({ isAssignable }) => isAssignable);
  const role = assignable.find((one) => one.roleId === roleId) ?? assignable.find((one) => one.roleId === 'member');
  const errors = fieldErrors(invite.error);

  return {
    email,
    setEmail,
    roles: assignable,
    roleId: role?.roleId ?? null,
    setRoleId,
    /** Sends the invitation, and empties the email address once it is sent. Does nothing while one is being sent, or after it for an empty address. */
    submit: () => {
      if (invite.isPending || (invite.isSuccess && email === '')) return; // the second click of a double click
      const input = { email: email.trim(), ...(role && { roleId: role.roleId, isSystemRole: role.isSystemRole }) };
      invite.mutate(input, { onSuccess: () => setEmail('') });
    },
    isPending: invite.isPending,
    invited: invite.isSuccess ? invite.variables.email : null,
    errors,
    /** An error that concerns no field, such as `seat_limit_reached`: its code and text. */
    formError: Object.keys(errors).length > 0 ? null : problemOf(invite.error),
  };
}

function fieldErrors(error: unknown): FieldErrors {
  const entries = documentOf(error)?.errors ?? [];
  const found = entries.flatMap(({ pointer, code }) => {
    const field = pointer.slice(1);
    return field === 'email' || field === 'roleId' ? [[field, code]] : [];
  });
  return Object.fromEntries(found) as FieldErrors;
}
