import { sortProductPermissions } from '../../auth/permissions.ts';
import { sortScopes } from '../../auth/scopes.ts';
import { newId } from '../../entities/index.ts';
import { declaredSteps, findUndeclared } from '../permissions/declared-permissions.ts';
import { query } from '../../db/query.ts';
import { lockRows } from '../../transactions/lock-order.ts';
import {
  addPlanned,
  findIds,
  insertInto,
  insertRows,
  keepNamed,
  newOutcome,
  recordRows,
  refuse,
  type Batch,
  type Numbered,
  type Outcome,
} from './batch.ts';
import { notifyOfKeys } from './notices.ts';

const insertKeys = insertInto(
  'api_key',
  'id, account_id, team_id, name, scopes, product_permissions, key_prefix, last4, created_at, expires_at, last_used_at',
);
const insertSecrets = insertInto('api_key_secret', 'secret_hash, api_key_id, created_at');

/** Imports API keys by the hashes of their secrets. A team key needs the membership that it depends on. */
export async function importApiKeys(batch: Batch, rows: readonly Numbered<'apiKey'>[]): Promise<Outcome> {
  const { tx, dryRun, services } = batch;
  const outcome = newOutcome();
  const wanted = { team: rows.flatMap(({ row }) => row.team ?? []), account: rows.map(({ row }) => row.account) };
  const teams = await findIds(tx, 'team', wanted.team);
  const accounts = await findIds(tx, 'account', wanted.account);
  await keepNamed(tx, 'team', [...teams.values()]);
  await keepNamed(tx, 'account', [...accounts.values()]);
  const members = await lockMembers(batch, [...teams.values()], [...accounts.values()]);
  addPlanned(teams, dryRun?.team, wanted.team);
  addPlanned(accounts, dryRun?.account, wanted.account);
  const operators = await findOperators(batch, [...accounts.values()]);
  const known = await findHashes(
    batch,
    rows.map(({ row }) => row.secretHash),
  );

  const given = [...new Set(rows.flatMap(({ row }) => row.permissions))];
  const [, declared] = await tx.run(declaredSteps(given));
  const accepted = rows.flatMap(({ line, row }) => {
    const [teamId, accountId] = [row.team === null ? null : teams.get(row.team), accounts.get(row.account)];
    if (teamId === undefined) refuse(outcome, line, 'unknown_team', '`team` is no team.');
    else if (accountId === undefined) refuse(outcome, line, 'unknown_account', '`account` is no account.');
    else if (operators.has(accountId)) refuse(outcome, line, 'operator_account', '`account` is that of an operator.');
    else if (
      teamId !== null &&
      !members.has(`${teamId} ${accountId}`) &&
      dryRun?.membership.has(`${row.team} ${row.account}`) !== true
    )
      refuse(outcome, line, 'not_a_member', '`account` is no member of `team`.');
    else if (!row.keyPrefix.startsWith(`${services.config.tokenBrand}_${teamId === null ? 'pk' : 'tk'}_`))
      refuse(outcome, line, 'foreign_key', '`keyPrefix` is not of an API key of Roster with this TOKEN_BRAND.');
    else if (findUndeclared(declared, row.permissions, true) !== undefined)
      refuse(outcome, line, 'unknown_permission', 'The catalogue gives API keys no such permission.');
    else if (known.has(row.secretHash) || dryRun?.apiKey.has(row.secretHash) === true) outcome.existing += 1;
    else {
      known.add(row.secretHash);
      dryRun?.apiKey.add(row.secretHash);
      return [{ ...row, id: newId('key'), teamId, accountId }];
    }
    return [];
  });
  outcome.created = accepted.length;
  if (dryRun !== null) return outcome;
  const now = new Date().toISOString();
  await insertRows(
    tx,
    insertKeys,
    accepted.map((row) => ({
      id: row.id,
      account_id: row.accountId,
      team_id: row.teamId,
      name: row.name,
      scopes: sortScopes(row.scopes),
      product_permissions: sortProductPermissions(row.permissions),
      key_prefix: row.keyPrefix,
      last4: row.last4,
      created_at: row.createdAt ?? row.lastUsedAt ?? now,
      expires_at: row.expiresAt,
      last_used_at: row.lastUsedAt,
    })),
  );
  await insertRows(
    tx,
    insertSecrets,
    accepted.map(({ id, secretHash }) => ({ secret_hash: `\\x${secretHash}`, api_key_id: id, created_at: now })),
  );
  await recordRows(
    batch,
    'api_key.created',
    accepted.map(({ id, teamId, accountId, name, scopes, permissions }) => ({
      keyId: id,
      teamId,
      ...(teamId !== null && { name }),
      accountId,
      scopes: sortScopes(scopes),
      ...(permissions.length > 0 && { productPermissions: sortProductPermissions(permissions) }),
    })),
  );
  await notifyOfKeys(batch, accepted);
  return outcome;
}

const lockMemberships = lockRows<{ id: string; team_id: string; account_id: string }>(
  'membership',
  'membership_lock_of_imported_keys',
  `select id, team_id, account_id from membership
   where team_id = any(string_to_array($1, ' ')) and account_id = any(string_to_array($2, ' '))`,
);

/** Locks memberships, so that none ends, and revokes its keys, before a key of it is committed. */
async function lockMembers({ tx }: Batch, teams: readonly string[], accounts: readonly string[]): Promise<Set<string>> {
  if (teams.length === 0) return new Set();
  const [rows] = await tx.run([[lockMemberships, [teams.join(' '), accounts.join(' ')]]]);
  return new Set(rows.map(({ team_id: teamId, account_id: accountId }) => `${teamId} ${accountId}`));
}

const operatorsOf = query<{ id: string }>(
  'account_list_operators',
  `select id from account where id = any(string_to_array($1, ' ')) and role = 'admin'`,
);

/** Returns which of the accounts are those of operators. */
async function findOperators({ tx }: Batch, accounts: readonly string[]): Promise<Set<string>> {
  const [rows] = await tx.run([[operatorsOf, [accounts.join(' ')]]]);
  return new Set(rows.map(({ id }) => id));
}

const knownHashes = query<{ hash: string }>(
  'api_key_secret_list_of_hashes',
  `select encode(secret_hash, 'hex') as hash from api_key_secret
   where secret_hash = any(array(select decode(hash, 'hex') from unnest(string_to_array($1, ' ')) hash))`,
);

async function findHashes({ tx }: Batch, hashes: readonly string[]): Promise<Set<string>> {
  const [rows] = await tx.run([[knownHashes, [hashes.join(' ')]]]);
  return new Set(rows.map(({ hash }) => hash));
}
