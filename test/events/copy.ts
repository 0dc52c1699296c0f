import type { DeliveredEvent } from '../../src/events/feed/event-schema.ts';
import type { Api } from '../support/api.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a product keeps of accounts, teams, members, roles and pending invitations: rows by table and key. */
export type Copy = Readonly<Record<'account' | 'team' | 'member' | 'role' | 'invitation', Map<string, Fields>>>;

const emptyCopy = (): Copy => ({
  account: new Map(),
  team: new Map(),
  member: new Map(),
  role: new Map(),
  invitation: new Map(),
});

/** Applies an event as docs/events.md tells readers to, with nothing but the event. */
export function apply(copy: Copy, { type, teamId, accountId, target, details, data }: DeliveredEvent): void {
  const metadataOf = (table: keyof Copy, key: string) => pick(copy[table].get(key) ?? {}, ['public', 'private']);
  const resource = (kind: string) => data?.[kind] as Fields | undefined; // as the catalogue declares
  const memberKey = (of: unknown) => `${teamId} ${String(of)}`;
  const patch = (table: keyof Copy, key: string, fields: Fields) => {
    const row = copy[table].get(key);
    if (row !== undefined) copy[table].set(key, { ...row, ...fields });
  };
  const removeOf = (table: keyof Copy) => {
    for (const [key, row] of copy[table]) if (row['teamId'] === teamId) copy[table].delete(key);
  };

  const account = resource('account');
  if (account !== undefined && accountId !== null)
    copy.account.set(accountId, {
      ...pick(account, ['email', 'firstName', 'lastName', 'avatar', 'preferredLocale', 'emailVerified', 'role']),
      ...pick(account, ['externalId']),
      ...metadataOf('account', accountId),
      isDisabled: copy.account.get(accountId)?.['isDisabled'] ?? false,
    });
  const team = resource('team');
  if (team !== undefined && teamId !== null)
    copy.team.set(teamId, {
      ...pick(team, ['name', 'slug', 'description', 'avatarUrl', 'externalId']),
      ...metadataOf('team', teamId),
    });
  const member = resource('member');
  if (member !== undefined)
    copy.member.set(memberKey(accountId), {
      teamId,
      ...pick(member, ['membershipId', 'accountId', 'roleId', 'joinedAt', 'expiresAt']),
      isActive: member['status'] !== 'inactive',
      ...metadataOf('member', memberKey(accountId)),
    });
  const role = resource('role');
  if (role !== undefined && target !== null)
    copy.role.set(target.id, { teamId, ...pick(role, ['name', 'permissions', 'productPermissions']) });
  const invitation = resource('invitation');
  if (invitation !== undefined && target !== null)
    copy.invitation.set(target.id, { teamId, ...pick(invitation, ['email', 'roleId', 'expiresAt']) });

  const keys = { account: accountId ?? '', team: teamId ?? '', member: memberKey(accountId) };
  for (const [table, key] of Object.entries(keys) as ['account' | 'team' | 'member', string][]) {
    const metadata = resource(`${table}Metadata`);
    if (metadata !== undefined) patch(table, key, pick(metadata, ['public']));
  }
  if (type === 'operator.account_disabled' || type === 'operator.account_enabled')
    patch('account', accountId ?? '', { isDisabled: type === 'operator.account_disabled' });
  if (type === 'account.deleted') copy.account.delete(accountId ?? '');
  if (type === 'member.removed' || type === 'member.left') copy.member.delete(memberKey(accountId));
  if (type === 'ownership.transferred') {
    patch('member', memberKey(details['formerOwnerId']), { roleId: details['formerOwnerRoleId'] });
    patch('member', memberKey(accountId), { roleId: 'owner', isActive: true, expiresAt: null });
  }
  if (type === 'role.deleted') {
    copy.role.delete(target?.id ?? '');
    for (const table of ['member', 'invitation'] as const)
      for (const [key, row] of copy[table])
        if (row['roleId'] === target?.id) patch(table, key, { roleId: details['replacementId'] });
  }
  if (['invitation.accepted', 'invitation.declined', 'invitation.revoked'].includes(type))
    copy.invitation.delete(target?.id ?? '');
  if (type === 'team.deleted') {
    copy.team.delete(teamId ?? '');
    for (const table of ['member', 'role', 'invitation'] as const) removeOf(table);
  }
}

const pick = (row: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? DEFAULTS[name] ?? null]));

const DEFAULTS: Fields = { public: {}, private: {} };

/** The tables of the events that say only that the private metadata of their target changed. */
const PRIVATE: Readonly<Record<string, 'account' | 'team' | 'member'>> = {
  'account.private_metadata_changed': 'account',
  'team.private_metadata_changed': 'team',
  'member.private_metadata_changed': 'member',
};

/** Reads the private metadata of the targets of events, as docs/metadata.md tells operators to. */
export async function readPrivate(
  api: Pick<Api, 'rows'>,
  copy: Copy,
  events: readonly DeliveredEvent[],
): Promise<void> {
  for (const { type, target } of events) {
    const table = PRIVATE[type];
    if (table === undefined) continue;
    const [row] = await api.rows<{ key: string; value: unknown }>(PRIVATE_OF[table], [target?.id]);
    const known = copy[table].get(row?.key ?? '');
    if (row !== undefined && known !== undefined) copy[table].set(row.key, { ...known, private: row.value });
  }
}

const PRIVATE_OF = {
  account: 'select id as key, private_metadata as value from account where id = $1',
  team: 'select id as key, private_metadata as value from team where id = $1',
  member: `select team_id || ' ' || account_id as key, private_metadata as value from membership where id = $1`,
} as const;

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const METADATA = `'public', public_metadata, 'private', private_metadata`;

const TABLES: Readonly<Record<keyof Copy, string>> = {
  account: `select id as key, json_build_object('email', email, 'firstName', first_name, 'lastName', last_name,
      'avatar', avatar, 'externalId', external_id, ${METADATA}, 'preferredLocale', preferred_locale, 'emailVerified', ${time('email_verified_at')}, 'role', role,
      'isDisabled', disabled_at is not null) as row from account`,
  team: `select id as key, json_build_object('name', name, 'slug', slug, 'description', description,
      'avatarUrl', avatar_url, 'externalId', external_id, ${METADATA}) as row from team`,
  member: `select team_id || ' ' || account_id as key, json_build_object('teamId', team_id, 'membershipId', id,
      'accountId', account_id, 'roleId', role_id, 'isActive', is_active, 'joinedAt', ${time('joined_at')},
      'expiresAt', ${time('expires_at')}, ${METADATA}) as row from membership`,
  role: `select id as key, json_build_object('teamId', team_id, 'name', name, 'permissions', permissions,
      'productPermissions', product_permissions) as row
    from role where team_id is not null`,
  invitation: `select id as key, json_build_object('teamId', team_id, 'email', email, 'roleId', role_id,
      'expiresAt', ${time('expires_at')}) as row from invitation where accepted_at is null and expires_at > now()`,
};

/** Reads what roles hold of the product after the catalogue has changed, as docs/permissions.md tells operators to. */
export async function readRoles(api: Pick<Api, 'rows'>, copy: Copy, events: readonly DeliveredEvent[]): Promise<void> {
  if (!events.some(({ type }) => type === 'permission_catalogue.changed')) return;
  const rows = await api.rows<{ id: string; held: string[] }>('select id, product_permissions as held from role');
  for (const { id, held } of rows) {
    const known = copy.role.get(id);
    if (known !== undefined) copy.role.set(id, { ...known, productPermissions: held });
  }
}

/** Reads the tables, table after table, as a product reads its snapshot list after list. */
export async function readTables(api: Pick<Api, 'rows'>): Promise<Copy> {
  const copy = emptyCopy();
  for (const table of Object.keys(copy) as (keyof Copy)[])
    for (const { key, row } of await api.rows<{ key: string; row: Fields }>(TABLES[table])) copy[table].set(key, row);
  return copy;
}

/** A copy that begins without a snapshot, or with one. */
export const copyOf = (rows: Copy = emptyCopy()) => structuredClone(rows);
