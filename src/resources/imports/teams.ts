import { looksLike, newId } from '../../entities/index.ts';
import { declaredSteps, findUndeclared } from '../permissions/declared-permissions.ts';
import { roleTemplatesSteps, type Template } from '../roles/template-roles.ts';
import { createSlugs } from '../teams/slug.ts';
import {
  METADATA_COLUMNS,
  insertInto,
  toMetadataColumns,
  addPlanned,
  findIds,
  insertRows,
  keepNamed,
  newOutcome,
  recordMetadata,
  recordRows,
  refuse,
  type Batch,
  type Numbered,
  type Outcome,
} from './batch.ts';
import { insertRoles, productPermissionsOf, roleKey, type ImportedRole } from './team-roles.ts';

const TEAM = `id, external_id, name, slug, description, avatar_url, import_id, created_at, updated_at, ${METADATA_COLUMNS}`;
const insertTeamRows = insertInto('team', TEAM);
const insertOwners = insertInto(
  'membership',
  'id, team_id, account_id, role_id, is_active, joined_at, created_at',
  'insert_imported_owners',
);
const insertSubscriptions = insertInto(
  'subscription',
  'team_id, plan_id, status, addons, cancel_at_period_end, needs_payment_action, version',
);

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
  const [, declared] = await tx.run(declaredSteps(productPermissionsOf(rows.flatMap(({ row }) => row.roles))));
  const accepted = rows.filter(({ line, row: { externalId, owner, plan, roles } }) => {
    if (known.has(externalId) || dryRun?.team.has(externalId) === true) outcome.existing += 1;
    else if (!owners.has(owner)) refuse(outcome, line, 'unknown_account', '`owner` is no account.');
    else if (plan !== null && !services.config.plans.has(plan))
      refuse(outcome, line, 'unknown_plan', '`plan` is no plan.');
    else if (findUndeclared(declared, productPermissionsOf(roles)) !== undefined)
      refuse(outcome, line, 'unknown_permission', 'A role has a permission that the catalogue does not give.');
    else {
      known.add(externalId);
      return true;
    }
    return false;
  });
  outcome.created = accepted.length;
  const [, templates] = accepted.length === 0 ? [[], []] : await tx.run(roleTemplatesSteps);
  if (dryRun === null) await insertTeams(batch, accepted, owners, templates);
  for (const { row } of accepted) {
    dryRun?.team.add(row.externalId);
    for (const { name } of rolesOf(row, templates)) dryRun?.role.add(roleKey(row.externalId, name));
    dryRun?.membership.add(`${row.externalId} ${row.owner}`);
    dryRun?.owner.add(`${row.externalId} ${row.owner}`);
  }
  return outcome;
}

async function insertTeams(
  batch: Batch,
  rows: readonly Numbered<'team'>[],
  owners: ReadonlyMap<string, string>,
  templates: readonly Template[],
): Promise<void> {
  if (rows.length === 0) return;
  const { tx, importId } = batch;
  const slugs = await createSlugs(
    tx,
    rows.map(({ row }) => row.slug ?? row.name),
  );
  const now = new Date().toISOString();
  const teams = rows.map(({ row }, i) => ({
    ...row,
    id: newId('team'),
    chosen: slugs[i],
    ownerId: owners.get(row.owner) ?? '',
    at: row.createdAt ?? now,
  }));
  await keepNamed(
    tx,
    'account',
    teams.map(({ ownerId }) => ownerId),
  );
  await insertRows(
    tx,
    insertTeamRows,
    teams.map(({ id, externalId, name, chosen, description, avatarUrl, metadata, at }) => ({
      id,
      external_id: externalId,
      name,
      slug: chosen,
      description,
      avatar_url: avatarUrl,
      import_id: importId,
      created_at: at,
      updated_at: now,
      ...toMetadataColumns({ metadata }),
    })),
  );
  await insertRows(
    tx,
    insertOwners,
    teams.map(({ id, ownerId, at }) => ({
      id: newId('mem'),
      team_id: id,
      account_id: ownerId,
      role_id: 'owner',
      is_active: true,
      joined_at: at,
      created_at: now,
    })),
  );
  await insertRows(
    tx,
    insertSubscriptions,
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
  const events = teams.map(({ id, ownerId }) => ({ teamId: id, accountId: ownerId }));
  await recordRows(batch, 'team.created', events);
  await recordMetadata(
    batch,
    'team',
    teams.map(({ id, metadata }) => ({ id, fields: { teamId: id }, metadata })),
  );
  await insertRoles(
    batch,
    teams.flatMap((team) => rolesOf(team, templates).map((role) => ({ teamId: team.id, ...role }))),
  );
  await recordRows(
    batch,
    'member.added',
    events.map((event) => ({ ...event, roleId: 'owner' })),
  );
  await recordRows(
    batch,
    'team.plan_set',
    teams.flatMap(({ id, plan }) => (plan === null ? [] : [{ teamId: id, planId: plan }])),
  );
}

/** Returns the roles of a new team: those of its row, and of the templates those that look like none of them. */
const rolesOf = (
  { roles }: { readonly roles: readonly ImportedRole[] },
  templates: readonly ImportedRole[],
): ImportedRole[] => [
  ...roles,
  ...templates.filter((template) => !roles.some(({ name }) => looksLike(name, template.name))),
];
