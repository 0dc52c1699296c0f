import type { Principal } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import { command } from '../../db/query.ts';
import { newId, Team } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { OperatorCaller, TeamCaller } from '../../transactions/caller.ts';
import { changeAtOnce } from '../../transactions/change-at-once.ts';
import { change } from '../../transactions/change.ts';
import { noteCreated } from '../../transactions/lock-order.ts';
import { reportTaken } from '../../transactions/report-taken.ts';
import type { TransactionScope } from '../../transactions/steps.ts';
import { requireNewOwner } from '../accounts/require-account.ts';
import { removePicture } from '../pictures/pictures.service.ts';
import { addTemplateRoles, roleTemplatesSteps } from '../roles/template-roles.ts';
import { claimSlug, claimSlugSteps } from './slug.ts';
import { ownedTeamsStep, requireTeamQuota } from './team-quota.ts';

type NewTeam = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly avatarUrl?: string | undefined;
  readonly externalId?: string | undefined;
};

/** Who creates a team: its owner, with a limit of owned teams, or the operator. */
type Creator =
  | { readonly caller: Principal; readonly teamLimit: number }
  | { readonly caller: OperatorCaller | 'system' };

const insertTeam = command<never>(
  'team_insert',
  `insert into team (id, created_at, updated_at, name, slug, description, external_id, avatar_url)
   values ($1, $2::timestamptz, $2::timestamptz, $3, $4, $5, $6, $7)`,
);

const insertOwner = command<never>(
  'membership_insert_owner',
  `insert into membership (id, created_at, joined_at, team_id, account_id, role_id, is_active)
   values ($1, $2::timestamptz, $2::timestamptz, $3, $4, 'owner', true)`,
);

/**
 * Creates a team with an account as its owner and first member. The teams of an account are counted under the lock of its
 * row; those that the operator creates are not limited. It has the roles of the templates.
 */
export const createTeam = (db: TransactionScope, creator: Creator, ownerId: string, input: NewTeam) => {
  const { name, description = null, externalId = null, avatarUrl = null } = input;
  const reads = [ownedTeamsStep(ownerId), ...roleTemplatesSteps, ...claimSlugSteps(name)] as const;
  const spec = { on: { account: ownerId }, requires: 'self', reads } as const;
  return reportTaken(uniqueValues(input), () =>
    change(db, creator.caller, spec, async (opened, [owned, , templates, ...claimed]) => {
      if ('teamLimit' in creator) {
        if (!opened.account.is_verified) throw new ProblemError('email_not_verified');
        requireTeamQuota(owned, creator.teamLimit);
      } else requireNewOwner(opened.account, '/ownerId');
      const slug = await claimSlug(opened, name, claimed);
      const [teamId, at] = [newId('team'), new Date().toISOString()];
      noteCreated(opened, 'team', teamId);
      opened.later([insertTeam, [teamId, at, name, slug, description, externalId, avatarUrl]]);
      opened.later([insertOwner, [newId('mem'), at, teamId, ownerId]]);
      opened.record('team.created', { accountId: ownerId, teamId });
      opened.record('member.added', { accountId: ownerId, teamId, roleId: 'owner' });
      addTemplateRoles(opened, teamId, templates);
      // Sent here, so that an external id in use is reported also if others follow in the transaction.
      if (externalId !== null) await opened.run([]);
      return {
        team: { id: teamId, name, slug, description, avatarUrl },
        role: { id: 'owner', name: 'Owner' },
      };
    }),
  );
};

const uniqueValues = ({ externalId }: { readonly externalId?: string | null | undefined }) =>
  ({
    team_external_id_unique: ['/externalId', `A team with the external id ${externalId} exists already.`],
  }) as const;

const renameTeam = changeAtOnce(
  'team_update_name',
  'edit_team_settings',
  'team.renamed',
  (callerMay) =>
    `update team t set name = $6, updated_at = case when before.name = $6 then t.updated_at else now() end
     from (select id, name from team where id = $1) before
     where t.id = before.id and ${callerMay} returning before.name <> $6 as is_changed`,
);

/** Renames a team. In one round trip, because it is the change that clients send most. */
export const updateTeam = (db: Database, caller: TeamCaller, name: string): Promise<void> =>
  renameTeam(db, caller, [name]);

type TeamChanges = {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly avatarUrl?: string | null | undefined;
  /** Only of the operator. */
  readonly externalId?: string | null | undefined;
};

/** Changes the given details of a team in one transaction. The slug does not change. @returns all as they are now */
export const updateTeamDetails = (
  db: TransactionScope,
  caller: TeamCaller | OperatorCaller | 'system',
  teamId: string,
  { name, description, avatarUrl, externalId }: TeamChanges,
) =>
  reportTaken(uniqueValues({ externalId }), () =>
    change(db, caller, { on: { team: teamId }, requires: 'edit_team_settings' }, async (tx) => {
      const team = await tx.em.findOneOrFail(Team, teamId);
      const changed = assignChanged(team, { description, avatarUrl, externalId });
      if (changed.includes('avatarUrl')) removePicture(tx, { team: teamId });
      if (changed.length > 0) tx.record('team.updated', { teamId, changed });
      if (assignChanged(team, { name }).length > 0) tx.record('team.renamed', { teamId });
      return { name: team.name, description: team.description ?? null, avatarUrl: team.avatarUrl ?? null };
    }),
  );
