import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account, Picture, Team } from '../../entities/index.ts';
import { record } from '../../events/record.ts';
import { DAY_MS } from '../../time.ts';
import { withAccount } from '../../transactions/with-account.ts';
import { withTeam, type TeamCaller } from '../../transactions/with-team.ts';

type Owner = { readonly account: string } | { readonly team: string };

/** Sets the picture of the caller's own account. @returns its URL */
export const setAccountPicture = ({ db, config }: Services, caller: Principal, content: Buffer): Promise<string> =>
  withAccount(db, caller, async ({ tx, account }) => {
    account.avatar = await replacePicture(tx, { account: account.id }, content, config.baseUrl);
    record(tx, 'account.profile_changed', { accountId: account.id });
    return account.avatar;
  });

/** Sets the picture of a team. @returns its URL */
export const setTeamPicture = ({ db, config }: Services, caller: TeamCaller, content: Buffer): Promise<string> =>
  withTeam(db, caller, 'edit_team_settings', async ({ tx, team }) => {
    team.avatarUrl = await replacePicture(tx, { team: team.id }, content, config.baseUrl);
    record(tx, 'team.updated', { teamId: team.id, changed: ['avatarUrl'] });
    return team.avatarUrl;
  });

/** Replaces the picture of a locked owner. The name contains the owner, so that equal pictures are deleted separately. */
async function replacePicture(tx: EntityManager, owner: Owner, content: Buffer, baseUrl: string): Promise<string> {
  const name = createHash('sha256')
    .update(`${Object.values(owner).join()}\0`)
    .update(content)
    .digest('base64url');
  await removePicture(tx, owner);
  tx.create(Picture, {
    name,
    account: 'account' in owner ? tx.getReference(Account, owner.account) : null,
    team: 'team' in owner ? tx.getReference(Team, owner.team) : null,
    content,
    cleanupAt: new Date(Date.now() + DAY_MS),
  });
  return `${baseUrl}/pictures/${name}.webp`;
}

/** Deletes the picture of a locked owner, if there is one. */
export const removePicture = (tx: EntityManager, owner: Owner): Promise<number> => tx.nativeDelete(Picture, owner);
