import type { EntityManager } from '@mikro-orm/postgresql';
import { record } from '../../events/record.ts';
import { lockAccount } from '../../transactions/locks.ts';
import { revokeGrants } from '../../transactions/revocation.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account, OAuthClient, Team } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import { provePassword, requireSame } from './reauthenticate.ts';

/** Deletes an account, everything that is its own, and the teams that nobody else is in. */
export async function deleteAccount(
  services: Services,
  browserClient: BrowserClient,
  principal: Principal,
  password: string | undefined,
): Promise<void> {
  const { db } = services;
  const { accountId } = principal;
  const known = await db.em().findOne(Account, accountId);
  const provenHash = known?.passwordHash
    ? await provePassword(services, browserClient, principal, required(password))
    : null;

  // A team that became the account's own between the locks of the teams and its own is locked by the next try.
  while (!(await db.em().transactional((tx) => remove(tx, accountId, provenHash)))) continue;
  browserClient.clearSession();
}

/** @returns false, with nothing changed, where a team would have to be locked after the account */
async function remove(tx: EntityManager, accountId: string, provenHash: string | null): Promise<boolean> {
  const teamIds = await ownedTeams(tx, accountId);
  await tx.execute('select id from team where id = any(string_to_array(?, ?)) order by id for update', [
    teamIds.join(' '),
    ' ',
  ]);
  const account = await lockAccount(tx, accountId);
  requireSame(account, provenHash);
  const owned = await ownedTeams(tx, accountId);
  if (owned.some((id) => !teamIds.includes(id))) return false;

  for (const teamId of owned) {
    const others = await tx.execute<unknown[]>(
      'select 1 from membership where team_id = ? and account_id <> ? limit 1',
      [teamId, accountId],
    );
    if (others.length > 0) throw new ProblemError('account_owns_teams');
  }
  // Memberships before grants before keys, and each in the order of their ids, as everywhere, so that no two writers wait for each other.
  await tx.execute('select id from membership where account_id = ? order by id for update', [accountId]);
  // The account's clients go with it, and with them what other people allowed these.
  const grants = `select id from oauth_grant
    where account_id = ? or client_id in (select id from oauth_client where account_id = ?)`;
  await tx.execute(`${grants} order by id for update`, [accountId, accountId]);
  await tx.execute(
    `select id from api_key where account_id = ? or oauth_grant_id in (${grants}) order by id for update`,
    [accountId, accountId, accountId],
  );
  await revokeGrants(tx, { account_id: accountId }, 'account deleted');
  for (const { id } of await tx.find(OAuthClient, { account: accountId }, { fields: ['id'] })) {
    await revokeGrants(tx, { client_id: id }, 'client deleted');
  }
  await tx.execute('select id from session where account_id = ? order by id for update', [accountId]);
  for (const teamId of owned) {
    await tx.nativeDelete(Team, { id: teamId });
    record(tx, 'team.deleted', { accountId, teamId, reason: 'account deleted' });
  }
  // They go with the account; each of their teams has lost a member.
  const left = await tx.execute<{ team_id: string }[]>(
    'select team_id from membership where account_id = ? order by team_id',
    [accountId],
  );
  for (const { team_id: teamId } of left) record(tx, 'member.left', { accountId, teamId, reason: 'account deleted' });
  await tx.nativeDelete(Account, { id: accountId });
  record(tx, 'account.deleted', { accountId });
  return true;
}

async function ownedTeams(tx: EntityManager, accountId: string): Promise<string[]> {
  const rows = await tx.execute<{ team_id: string }[]>(
    `select team_id from membership where account_id = ? and role_id = 'owner' order by team_id`,
    [accountId],
  );
  return rows.map(({ team_id: id }) => id);
}

function required(password: string | undefined): string {
  if (password !== undefined) return password;
  throw invalidInput('/password', 'The account has a password, which has to be given.', 'required');
}
