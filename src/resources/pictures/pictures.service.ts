import type { Change } from '../../transactions/steps.ts';
import { createHash } from 'node:crypto';
import type { Services } from '../../service/services.ts';
import { command } from '../../db/query.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account, Picture, Team } from '../../entities/index.ts';
import { DAY_MS } from '../../time.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';

type Owner = { readonly account: string } | { readonly team: string };

/** Sets the picture of the caller's own account. @returns its URL */
export const setAccountPicture = ({ db, config }: Services, caller: Principal, content: Buffer): Promise<string> => {
  const { accountId } = caller;
  return change(db, caller, { on: { account: accountId }, requires: 'self' }, async (tx) => {
    const avatar = await replacePicture(tx, { account: accountId }, content, config.baseUrl);
    const account = await tx.em.findOneOrFail(Account, accountId);
    if (assignChanged(account, { avatar }).length > 0) tx.record('account.profile_changed', { accountId });
    return avatar;
  });
};

/** Sets the picture of a team. @returns its URL */
export const setTeamPicture = ({ db, config }: Services, caller: TeamCaller, content: Buffer): Promise<string> => {
  const { teamId } = caller;
  return change(db, caller, { on: { team: teamId }, requires: 'edit_team_settings' }, async (tx) => {
    const avatarUrl = await replacePicture(tx, { team: teamId }, content, config.baseUrl);
    const team = await tx.em.findOneOrFail(Team, teamId);
    if (assignChanged(team, { avatarUrl }).length > 0) tx.record('team.updated', { teamId, changed: ['avatarUrl'] });
    return avatarUrl;
  });
};

/** Replaces the picture of a locked owner. The name contains the owner, so that equal pictures are deleted separately. */
async function replacePicture(tx: Change, owner: Owner, content: Buffer, baseUrl: string): Promise<string> {
  const name = createHash('sha256')
    .update(`${Object.values(owner).join()}\0`)
    .update(content)
    .digest('base64url');
  removePicture(tx, owner);
  tx.em.create(Picture, {
    name,
    account: 'account' in owner ? tx.em.getReference(Account, owner.account) : null,
    team: 'team' in owner ? tx.em.getReference(Team, owner.team) : null,
    content,
    cleanupAt: new Date(Date.now() + DAY_MS),
  });
  return `${baseUrl}/pictures/${name}.webp`;
}

/** Deletes the picture of a locked owner, if there is one. */
export const removePicture = (tx: Change, owner: Owner): void =>
  tx.later('account' in owner ? [deleteOfAccount, [owner.account]] : [deleteOfTeam, [owner.team]]);

const deleteOf = (owner: 'account' | 'team') =>
  command<never>(`picture_delete_of_${owner}`, `delete from picture where ${owner}_id = $1`);
const [deleteOfAccount, deleteOfTeam] = [deleteOf('account'), deleteOf('team')];
