import { isPrivileged, type Weight } from '../../auth/permissions.ts';
import { query } from '../../db/query.ts';
import { notify, notifyOwner } from '../../jobs/notify.ts';
import { findForeign, type Batch } from './batch.ts';

type NewKey = { readonly accountId: string; readonly teamId: string | null; readonly name: string };

/** Notifies accounts that the import did not create of keys that it adds to them. */
export async function notifyOfKeys(batch: Batch, keys: readonly NewKey[]): Promise<void> {
  const foreign = await findForeign(
    batch,
    keys.map(({ accountId }) => ({ accountId })),
  );
  for (const { accountId, teamId, name } of keys)
    if (foreign.has(accountId)) await notify(batch.tx, accountId, { kind: 'api_key_created', thing: name, teamId });
}

type NewMember = { readonly accountId: string; readonly teamId: string; readonly roleId: string };
type Names = { readonly id: string; readonly person: string | null };
type GivenRole = Weight & { readonly id: string; readonly name: string };

const rolesOf = query<GivenRole>(
  'role_list_given',
  `select id, name, permissions, is_sensitive as "isSensitive" from role where id = any(string_to_array($1, ' '))`,
);

const peopleOf = query<Names>(
  'account_list_names',
  `select id, coalesce(nullif(concat_ws(' ', first_name, last_name), ''), email) as person
   from account where id = any(string_to_array($1, ' '))`,
);

/** Notifies the owners of teams that the import did not create of privileged roles that it gives in them. */
export async function notifyOfRoles(batch: Batch, members: readonly NewMember[]): Promise<void> {
  const { tx } = batch;
  const foreign = await findForeign(
    batch,
    members.map(({ teamId }) => ({ teamId })),
  );
  const given = members.filter(({ teamId }) => foreign.has(teamId));
  if (given.length === 0) return;
  const [roles] = await tx.run([[rolesOf, [given.map(({ roleId }) => roleId).join(' ')]]]);
  const [people] = await tx.run([[peopleOf, [given.map(({ accountId }) => accountId).join(' ')]]]);
  for (const { accountId, teamId, roleId } of given) {
    const role = roles.find(({ id }) => id === roleId);
    if (role === undefined || !isPrivileged(role)) continue;
    const person = people.find(({ id }) => id === accountId)?.person ?? undefined;
    await notifyOwner(tx, teamId, { kind: 'role_given', thing: role.name, person });
  }
}
