import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../auth/principal.ts';
import type { Database } from '../../db/database.ts';
import { record, recordedCommand, runAndRecord } from '../../events/record.ts';
import { teamCommand, teamCommandRunner } from '../../transactions/team-command.ts';
import { ProblemError } from '../../errors.ts';
import { lockOne } from '../../transactions/locks.ts';
import { reportTaken } from '../../transactions/report-taken.ts';
import { transaction, type TransactionScope } from '../../transactions/transaction.ts';
import { requireNewOwner, requireVerifiedEmail, withAccount } from '../../transactions/with-account.ts';
import { withTeam, withTeamAsOperator, type TeamCaller } from '../../transactions/with-team.ts';
import { type Account, Membership, Role, Team } from '../../entities/index.ts';
import { removePicture } from '../pictures/pictures.service.ts';
import { createSlug } from './slug.ts';
import { requireTeamQuota } from './team-quota.ts';

type NewTeam = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly externalId?: string | undefined;
};

/** Creates a team with the caller as its owner and first member. @param teamLimit how many teams an account can own */
export const createTeam = (db: TransactionScope, caller: Principal, input: NewTeam, teamLimit: number) =>
  // The teams of an account are counted under the lock of its row.
  withAccount(db, caller, async ({ tx, account }) => {
    requireVerifiedEmail(account);
    await requireTeamQuota(tx, account.id, teamLimit);
    return addTeam(tx, account, input);
  });

/** Creates a team with the account as its owner for the operator. The team limit does not apply. */
export const createTeamAsOperator = (db: TransactionScope, accountId: string, input: NewTeam) =>
  reportTaken(uniqueValues(input), () =>
    transaction(db, async (tx) => {
      const account = await lockOne(tx, 'account', accountId);
      if (account === null) throw new ProblemError('account_not_found');
      requireNewOwner(account, '/ownerId');
      return addTeam(tx, account, input);
    }),
  );

const uniqueValues = ({ externalId }: { readonly externalId?: string | null | undefined }) =>
  ({
    team_external_id_unique: ['/externalId', `A team with the external id ${externalId} exists already.`],
  }) as const;

async function addTeam(tx: EntityManager, account: Account, input: NewTeam) {
  const slug = await createSlug(tx, input.name);
  const { name, description = null, externalId = null } = input;
  const team = tx.create(Team, { name, slug, description, externalId });
  tx.create(Membership, { team, account, role: tx.getReference(Role, 'owner'), joinedAt: new Date() });
  record(tx, 'team.created', { accountId: account.id, teamId: team.id });
  await tx.flush();
  return {
    team: { id: team.id, name: team.name, slug, description: team.description ?? null, avatarUrl: null },
    role: { id: 'owner', name: 'Owner' },
  };
}

const renameTeam = teamCommand((holds, suffix) =>
  recordedCommand<{ name: string }>(
    `rename_team_${suffix}`,
    `update team set name = $6, updated_at = now() where id = $1 and ${holds} returning name`,
    'team.renamed',
  ),
);

/** Renames a team. In one round trip, because it is the change that clients send most. */
export async function updateTeam(db: Database, caller: TeamCaller, name: string): Promise<void> {
  const runner = teamCommandRunner(db, caller, 'edit_team_settings');
  await runAndRecord(runner, renameTeam(caller.credential), [name], { teamId: caller.teamId });
}

type Given = Details & { readonly name?: string | undefined };

type Details = { readonly description?: string | null | undefined; readonly avatarUrl?: string | null | undefined };

/** Changes the given details in one transaction. @returns all of them as they are now */
export const updateTeamDetails = (db: TransactionScope, caller: TeamCaller, { name, description, avatarUrl }: Given) =>
  withTeam(db, caller, 'edit_team_settings', async ({ tx, team }) => {
    if (description !== undefined) team.description = description;
    if (avatarUrl !== undefined && avatarUrl !== team.avatarUrl) {
      await removePicture(tx, { team: team.id });
      team.avatarUrl = avatarUrl;
    }
    const changed = Object.entries({ description, avatarUrl }).flatMap(([field, value]) =>
      value === undefined ? [] : [field],
    );
    if (changed.length > 0 || name === undefined) record(tx, 'team.updated', { teamId: team.id, changed });
    if (name !== undefined && name !== team.name) {
      team.name = name;
      record(tx, 'team.renamed', { teamId: team.id });
    }
    return { name: team.name, description: team.description ?? null, avatarUrl: team.avatarUrl ?? null };
  });

type TeamChanges = Given & { readonly externalId?: string | null | undefined };

/** Changes a team for the operator. Omitted fields keep their value; the slug does not change. */
export const updateTeamAsOperator = (
  db: TransactionScope,
  teamId: string,
  { name, ...details }: TeamChanges,
): Promise<void> =>
  reportTaken(uniqueValues(details), () =>
    withTeamAsOperator(db, teamId, async ({ tx, team }) => {
      const given = Object.entries(details).filter(([, value]) => value !== undefined);
      if (given.length > 0) {
        tx.assign(team, Object.fromEntries(given));
        record(tx, 'team.updated', { teamId, changed: given.map(([field]) => field) });
      }
      if (name === undefined || name === team.name) return;
      team.name = name;
      record(tx, 'team.renamed', { teamId });
    }),
  );
