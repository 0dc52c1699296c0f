import { newId } from '../../entities/index.ts';
import { query } from '../../db/query.ts';
import {
  METADATA_COLUMNS,
  insertInto,
  toMetadataColumns,
  addPlanned,
  findIds,
  insertRows,
  keepNamed,
  newOutcome,
  recordMetadata,
  recordRows,
  refuse,
  type Batch,
  type Numbered,
  type Outcome,
} from './batch.ts';
import { notifyOfRoles } from './notices.ts';
import { findRoles, roleKey, systemRoleOf } from './team-roles.ts';

const COLUMNS = `id, team_id, account_id, role_id, is_active, expires_at, joined_at, created_at, ${METADATA_COLUMNS}`;
const insertMemberships = insertInto(
  'membership',
  COLUMNS,
  'insert_imported',
  // An invitation that is accepted at the same time has won.
  'on conflict (account_id, team_id) do nothing',
);

/** Imports memberships. The owner of a team is imported with the team, and never changed. */
export async function importMemberships(batch: Batch, rows: readonly Numbered<'membership'>[]): Promise<Outcome> {
  const { tx, dryRun } = batch;
  const outcome = newOutcome();
  const wanted = { team: rows.map(({ row }) => row.team), account: rows.map(({ row }) => row.account) };
  const teams = await findIds(tx, 'team', wanted.team);
  const accounts = await findIds(tx, 'account', wanted.account);
  // Neither is deleted until the commit.
  const [lockedTeams, lockedAccounts] = [
    await keepNamed(tx, 'team', [...teams.values()]),
    await keepNamed(tx, 'account', [...accounts.values()]),
  ];
  for (const [externalId, id] of teams) if (!lockedTeams.has(id)) teams.delete(externalId);
  for (const [externalId, id] of accounts) if (!lockedAccounts.has(id)) accounts.delete(externalId);
  addPlanned(teams, dryRun?.team, wanted.team);
  addPlanned(accounts, dryRun?.account, wanted.account);
  const known = await findMemberships(batch, rows, teams, accounts);
  const named = rows.filter(({ row }) => systemRoleOf(row.role) === undefined);
  const roles = await findRoles(batch, [...new Set(named.flatMap(({ row }) => teams.get(row.team) ?? []))]);

  const accepted = rows.flatMap(({ line, row }) => {
    const [teamId, accountId] = [teams.get(row.team), accounts.get(row.account)];
    const key = `${teamId} ${accountId}`;
    const role = known.get(key);
    const isPlanned = dryRun?.role.has(roleKey(row.team, row.role)) === true;
    const roleId = systemRoleOf(row.role) ?? roles.get(roleKey(teamId ?? '', row.role)) ?? (isPlanned ? '' : undefined);
    if (teamId === undefined) refuse(outcome, line, 'unknown_team', '`team` is no team.');
    else if (accountId === undefined) refuse(outcome, line, 'unknown_account', '`account` is no account.');
    else if (roleId === undefined) refuse(outcome, line, 'unknown_role', '`role` is no role of the team.');
    else if (roleId === 'owner' && role !== 'owner')
      refuse(outcome, line, 'owner_exists', 'The team has another owner: `owner` of the team decides.');
    else if (role !== undefined || dryRun?.membership.has(`${row.team} ${row.account}`) === true) outcome.existing += 1;
    else {
      known.set(key, roleId);
      dryRun?.membership.add(`${row.team} ${row.account}`);
      return [{ ...row, id: newId('mem'), teamId, accountId, roleId }];
    }
    return [];
  });
  outcome.created = accepted.length;
  if (dryRun !== null) return outcome;
  const now = new Date().toISOString();
  const inserted = await insertRows(
    tx,
    insertMemberships,
    accepted.map(({ id, teamId, accountId, roleId, isActive, expiresAt, joinedAt, metadata }) => ({
      id,
      team_id: teamId,
      account_id: accountId,
      role_id: roleId,
      is_active: isActive,
      expires_at: expiresAt,
      joined_at: joinedAt ?? now,
      created_at: now,
      ...toMetadataColumns({ metadata }),
    })),
  );
  const added = accepted.filter(({ id }) => inserted.has(id));
  await recordRows(
    batch,
    'member.added',
    added.map(({ teamId, accountId, roleId, isActive, expiresAt }) => ({
      accountId,
      teamId,
      roleId,
      isActive,
      expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    })),
  );
  await recordMetadata(
    batch,
    'membership',
    added.map(({ id, teamId, accountId, metadata }) => ({ id, fields: { teamId, accountId }, metadata })),
  );
  await notifyOfRoles(batch, added);
  return outcome;
}

const membershipsOfPairs = query<{ team_id: string; account_id: string; role_id: string }>(
  'membership_list_of_pairs',
  // Each by the index: PostgreSQL would read all memberships, because it does not know how few pairs there are.
  `select m.team_id, m.account_id, m.role_id from json_to_recordset($1::json) as pair (t text, a text)
   cross join lateral (
     select team_id, account_id, role_id from membership where account_id = pair.a and team_id = pair.t offset 0) m`,
);

/** Finds the roles of memberships, by the ids of team and account. */
export async function findMemberships(
  { tx, dryRun }: Batch,
  rows: readonly { readonly row: { readonly team: string | null; readonly account: string } }[],
  teams: ReadonlyMap<string, string>,
  accounts: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const pairs = rows.map(({ row }) => ({ t: teams.get(row.team ?? ''), a: accounts.get(row.account) }));
  const [found] = await tx.run([[membershipsOfPairs, [JSON.stringify(pairs)]]]);
  const roles = new Map(found.map((row) => [`${row.team_id} ${row.account_id}`, row.role_id]));
  for (const { row } of dryRun === null ? [] : rows) {
    if (dryRun?.owner.has(`${row.team} ${row.account}`) === true) roles.set(`${row.team} ${row.account}`, 'owner');
  }
  return roles;
}
