import type { Change } from '../../transactions/steps.ts';
import { createHash } from 'node:crypto';
import type { Services } from '../../service/services.ts';
import { command } from '../../db/query.ts';
import type { Principal } from '../../auth/principal.ts';
import { Account, Picture, Team } from '../../entities/index.ts';
import { nowStep, toNow } from '../../db/clock.ts';
import { addDays } from '../../time.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { TeamCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';

type Owner = { readonly account: string } | { readonly team: string };

/** Sets the picture of the caller's own account. @returns its URL */
export const setAccountPicture = ({ db, config }: Services, caller: Principal, content: Buffer): Promise<string> => {
  const { accountId } = caller;
  const spec = { on: { account: accountId }, requires: 'self', reads: [nowStep] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const avatar = await replacePicture(tx, { account: accountId }, content, config.baseUrl, toNow(time));
    const account = await tx.em.findOneOrFail(Account, accountId);
    if (assignChanged(account, { avatar }).length > 0) tx.record('account.profile_changed', { accountId });
    return avatar;
  });
};

/** Sets the picture of a team. @returns its URL */
export const setTeamPicture = ({ db, config }: Services, caller: TeamCaller, content: Buffer): Promise<string> => {
  const { teamId } = caller;
  const spec = { on: { team: teamId }, requires: 'edit_team_settings', reads: [nowStep] } as const;
  return change(db, caller, spec, async (tx, [time]) => {
    const avatarUrl = await replacePicture(tx, { team: teamId }, content, config.baseUrl, toNow(time));
    const team = await tx.em.findOneOrFail(Team, teamId);
    if (assignChanged(team, { avatarUrl }).length > 0) tx.record('team.updated', { teamId, changed: ['avatarUrl'] });
    return avatarUrl;
  });
};

/** Replaces the picture of a locked owner. The name contains the owner, so that equal pictures are deleted separately. */
async function replacePicture(tx: Change, owner: Owner, content: Buffer, baseUrl: string, now: Date): Promise<string> {
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
    cleanupAt: addDays(now, 1),
  });
  return `${baseUrl}/pictures/${name}.webp`;
}

/** Deletes the picture of a locked owner, if there is one. */
export const removePicture = (tx: Change, owner: Owner): void =>
  tx.later('account' in owner ? [deleteOfAccount, [owner.account]] : [deleteOfTeam, [owner.team]]);

const deleteOf = (owner: 'account' | 'team') =>
  command<never>(`picture_delete_of_${owner}`, `delete from picture where ${owner}_id = $1`);
const [deleteOfAccount, deleteOfTeam] = [deleteOf('account'), deleteOf('team')];
