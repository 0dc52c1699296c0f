import { lockTeamAs } from '../../transactions/with-team.ts';
import { record } from '../../events/record.ts';
import type { ActiveMembership } from '../../auth/principal.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';
import { requirePermission } from '../../procedures/procedures.ts';

/** Ends a key of the caller's team, whoever made it, from the next request on. */
export async function revokeKeyInTeam({ db }: Services, caller: ActiveMembership, keyId: string): Promise<void> {
  const { team, accountId } = caller;
  await db.em().transactional(async (tx) => {
    const { permissions } = await lockTeamAs(tx, caller);
    requirePermission(permissions, 'manage_api_keys');
    const [row] = await tx.execute<{ account_id: string }[]>(
      'update api_key set revoked_at = now() where id = ? and team_id = ? and revoked_at is null returning account_id',
      [keyId, team.id],
    );
    if (row === undefined) throw new ProblemError('api_key_not_found');
    record(tx, 'api_key.revoked', { accountId, keyId, makerId: row.account_id, teamId: team.id });
  });
}
