import { newId } from '../../entities/index.ts';
import { lockShared } from '../../transactions/locks.ts';
import {
  addPlanned,
  findIds,
  insertRows,
  newOutcome,
  refuse,
  type Batch,
  type Numbered,
  type Outcome,
} from './batch.ts';

const COLUMNS = 'id, team_id, account_id, role_id, is_active, expires_at, joined_at, created_at';

/** Imports memberships. The owner of a team is imported with the team, and never changed. */
export async function importMemberships(batch: Batch, rows: readonly Numbered<'membership'>[]): Promise<Outcome> {
  const { tx, dryRun } = batch;
  const outcome = newOutcome();
  const wanted = { team: rows.map(({ row }) => row.team), account: rows.map(({ row }) => row.account) };
  const teams = await findIds(tx, 'team', wanted.team);
  const accounts = await findIds(tx, 'account', wanted.account);
  // Neither is deleted until the commit.
  const [lockedTeams, lockedAccounts] = [
    new Set(await lockShared(tx, 'team', [...teams.values()])),
    new Set(await lockShared(tx, 'account', [...accounts.values()])),
  ];
  for (const [externalId, id] of teams) if (!lockedTeams.has(id)) teams.delete(externalId);
  for (const [externalId, id] of accounts) if (!lockedAccounts.has(id)) accounts.delete(externalId);
  addPlanned(teams, dryRun?.team, wanted.team);
  addPlanned(accounts, dryRun?.account, wanted.account);
  const known = await findMemberships(batch, rows, teams, accounts);

  const accepted = rows.flatMap(({ line, row }) => {
    const [teamId, accountId] = [teams.get(row.team), accounts.get(row.account)];
    const key = `${teamId} ${accountId}`;
    const role = known.get(key);
    if (teamId === undefined) refuse(outcome, line, 'unknown_team', '`team` is no team.');
    else if (accountId === undefined) refuse(outcome, line, 'unknown_account', '`account` is no account.');
    else if (row.role === 'owner' && role !== 'owner')
      refuse(outcome, line, 'owner_exists', 'The team has another owner: `owner` of the team decides.');
    else if (role !== undefined || dryRun?.membership.has(`${row.team} ${row.account}`) === true) outcome.existing += 1;
    else {
      known.set(key, row.role);
      dryRun?.membership.add(`${row.team} ${row.account}`);
      return [{ ...row, teamId, accountId }];
    }
    return [];
  });
  outcome.created = accepted.length;
  const now = new Date().toISOString();
  if (dryRun === null)
    await insertRows(
      tx,
      'membership',
      COLUMNS,
      accepted.map(({ teamId, accountId, role, isActive, expiresAt, joinedAt }) => ({
        id: newId('mem'),
        team_id: teamId,
        account_id: accountId,
        role_id: role,
        is_active: isActive,
        expires_at: expiresAt,
        joined_at: joinedAt ?? now,
        created_at: now,
      })),
      // An invitation that is accepted at the same time has won.
      'on conflict (account_id, team_id) do nothing',
    );
  return outcome;
}

/** Finds the roles of memberships, by the ids of team and account. */
export async function findMemberships(
  { tx, dryRun }: Batch,
  rows: readonly { readonly row: { readonly team: string | null; readonly account: string } }[],
  teams: ReadonlyMap<string, string>,
  accounts: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const pairs = rows.map(({ row }) => ({ t: teams.get(row.team ?? ''), a: accounts.get(row.account) }));
  const found = await tx.execute<{ team_id: string; account_id: string; role_id: string }[]>(
    `select m.team_id, m.account_id, m.role_id from json_to_recordset(?::json) as pair (t text, a text)
     join membership m on m.account_id = pair.a and m.team_id = pair.t`,
    [JSON.stringify(pairs)],
  );
  const roles = new Map(found.map((row) => [`${row.team_id} ${row.account_id}`, row.role_id]));
  for (const { row } of dryRun === null ? [] : rows) {
    if (dryRun?.owner.has(`${row.team} ${row.account}`) === true) roles.set(`${row.team} ${row.account}`, 'owner');
  }
  return roles;
}
