import { newId } from '../../entities/index.ts';
import { lockShared } from '../../transactions/locks.ts';
import { createSlugs } from '../teams/slug.ts';
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

const TEAM = 'id, external_id, name, slug, description, avatar_url, created_at, updated_at';

/** Imports teams, each with the membership of its owner. */
export async function importTeams(batch: Batch, rows: readonly Numbered<'team'>[]): Promise<Outcome> {
  const { tx, dryRun, services } = batch;
  const outcome = newOutcome();
  const known = new Set(
    (
      await findIds(
        tx,
        'team',
        rows.map(({ row }) => row.externalId),
      )
    ).keys(),
  );
  const wanted = rows.map(({ row }) => row.owner);
  const owners = await findIds(tx, 'account', wanted);
  addPlanned(owners, dryRun?.account, wanted);
  const accepted = rows.filter(({ line, row: { externalId, owner, plan } }) => {
    if (known.has(externalId) || dryRun?.team.has(externalId) === true) outcome.existing += 1;
    else if (!owners.has(owner)) refuse(outcome, line, 'unknown_account', '`owner` is no account.');
    else if (plan !== null && !services.config.plans.has(plan))
      refuse(outcome, line, 'unknown_plan', '`plan` is no plan.');
    else {
      known.add(externalId);
      return true;
    }
    return false;
  });
  outcome.created = accepted.length;
  if (dryRun === null) await insertTeams(batch, accepted, owners);
  for (const { row } of accepted) {
    dryRun?.team.add(row.externalId);
    dryRun?.membership.add(`${row.externalId} ${row.owner}`);
    dryRun?.owner.add(`${row.externalId} ${row.owner}`);
  }
  return outcome;
}

async function insertTeams(
  { tx }: Batch,
  rows: readonly Numbered<'team'>[],
  owners: ReadonlyMap<string, string>,
): Promise<void> {
  if (rows.length === 0) return;
  const slugs = await createSlugs(
    tx,
    rows.map(({ row }) => row.slug ?? row.name),
  );
  const now = new Date().toISOString();
  const teams = rows.map(({ row }, i) => ({ ...row, id: newId('team'), chosen: slugs[i], at: row.createdAt ?? now }));
  await lockShared(
    tx,
    'account',
    teams.map(({ owner }) => owners.get(owner) ?? ''),
  );
  await insertRows(
    tx,
    'team',
    TEAM,
    teams.map(({ id, externalId, name, chosen, description, avatarUrl, at }) => ({
      id,
      external_id: externalId,
      name,
      slug: chosen,
      description,
      avatar_url: avatarUrl,
      created_at: at,
      updated_at: now,
    })),
  );
  await insertRows(
    tx,
    'membership',
    'id, team_id, account_id, role_id, is_active, joined_at, created_at',
    teams.map(({ id, owner, at }) => ({
      id: newId('mem'),
      team_id: id,
      account_id: owners.get(owner),
      role_id: 'owner',
      is_active: true,
      joined_at: at,
      created_at: now,
    })),
  );
  await insertRows(
    tx,
    'subscription',
    'team_id, plan_id, status, addons, cancel_at_period_end, needs_payment_action, version',
    teams.flatMap(({ id, plan }) =>
      plan === null
        ? []
        : [
            {
              team_id: id,
              plan_id: plan,
              status: 'active',
              addons: {},
              cancel_at_period_end: false,
              needs_payment_action: false,
              version: 1,
            },
          ],
    ),
  );
}
