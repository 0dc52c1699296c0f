import { lockMany } from '../../transactions/locks.ts';
import { revokeApiKeys } from '../../transactions/revocation.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { withTeam, type TeamCaller } from '../../transactions/with-team.ts';
import { record } from '../../events/record.ts';
import { ApiKey } from '../../entities/index.ts';
import { ProblemError } from '../../errors.ts';
import type { Services } from '../../app-services.ts';

/** Revokes an API key of the caller's team, whichever member created it. */
export const revokeKeyInTeam = ({ db }: Services, caller: TeamCaller, keyId: string): Promise<void> =>
  withTeam(db, caller, 'manage_api_keys', async ({ tx, caller: { teamId } }) => {
    const [key] = await lockMany(tx, 'api_key', { id: keyId, team: teamId, revokedAt: null });
    if (key === undefined) throw new ProblemError('api_key_not_found');
    await tx.nativeUpdate(ApiKey, { id: keyId }, { revokedAt: new Date() });
    const { id: makerId } = key.account;
    record(tx, 'api_key.revoked', { accountId: makerId, keyId, name: key.name, makerId, teamId });
  });

/** Revokes any API key for the operator. */
export const revokeKeyAsOperator = (db: TransactionScope, keyId: string): Promise<void> =>
  transaction(db, async (tx) => {
    if ((await revokeApiKeys(tx, { id: keyId })) === 0) throw new ProblemError('api_key_not_found');
  });
