import { isPrivileged, sortPermissions, sortProductPermissions } from '../../auth/permissions.ts';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import { command } from '../../db/query.ts';
import {
  looksLike,
  RoleTemplate,
  SYSTEM_ROLES,
  type Permission,
  type ProductPermission,
} from '../../entities/index.ts';
import { notifyOperators } from '../../jobs/notify.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { assignChanged } from '../../transactions/assign-changed.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { requireProofOfOperatorIf } from '../../transactions/require-proof.ts';
import { isAnySensitive, readDeclared, requireDeclared } from '../permissions/declared-permissions.ts';
import { describePermissionChange } from '../../events/permission-change.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';

/** Every new team gets a role for each. */
export const ROLE_TEMPLATES_MAX = 50;

type Operating = OperatorCaller | 'system';

const lockTemplates = command<object>('role_template_lock', 'select from pg_advisory_xact_lock($1)');

/** Changes of templates run one after another, because each compares its name with all of them. */
const BY_OPERATOR = {
  on: 'installation',
  requires: 'operator',
  reads: [[lockTemplates, [ADVISORY_LOCKS.roleTemplates]]],
} as const;

type Fields = {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly productPermissions?: readonly ProductPermission[] | undefined;
};
type Changes = { readonly [Field in keyof Fields]?: Fields[Field] | undefined };

/** Creates a template, from which teams that are created from then on get a role. @throws validation_failed, proof_required */
export const createRoleTemplate = (
  db: TransactionScope,
  caller: Operating,
  { name, permissions, productPermissions = [] }: Fields,
): Promise<RoleTemplate> =>
  change(db, caller, BY_OPERATOR, async (tx) => {
    const templates = await tx.em.find(RoleTemplate, {});
    if (templates.length >= ROLE_TEMPLATES_MAX)
      throw invalidInput('/name', `There are ${ROLE_TEMPLATES_MAX} role templates, which is the limit.`);
    requireFreeName(templates, name);
    await requireProofToWiden(tx, caller, { name, permissions, productPermissions });
    const fields = {
      name,
      permissions: sortPermissions(permissions),
      productPermissions: sortProductPermissions(productPermissions),
    };
    const template = tx.em.create(RoleTemplate, fields, { partial: true });
    tx.record('role_template.created', { templateId: template.id, ...fields });
    return template;
  });

/**
 * Changes a template for teams that are created from then on.
 * @param expectedVersion the version that the caller has read, if another one must not be changed
 * @throws role_not_found, version_mismatch, validation_failed, proof_required
 */
export const updateRoleTemplate = (
  db: TransactionScope,
  caller: Operating,
  templateId: string,
  { name, permissions, productPermissions }: Changes,
  expectedVersion?: number,
): Promise<RoleTemplate> =>
  change(db, caller, BY_OPERATOR, async (tx) => {
    const templates = await tx.em.find(RoleTemplate, {});
    const template = requireTemplate(templates, templateId);
    if (expectedVersion !== undefined && expectedVersion !== template.version)
      throw new ProblemError('version_mismatch', `The role template has version ${template.version}.`);
    if (name !== undefined)
      requireFreeName(
        templates.filter((other) => other !== template),
        name,
      );
    await requireProofToWiden(
      tx,
      caller,
      {
        name: name ?? template.name,
        permissions: permissions ?? [],
        productPermissions: productPermissions ?? [],
      },
      template,
    );
    const before = template.productPermissions;
    const changed = assignChanged(template, {
      name,
      permissions: permissions && sortPermissions(permissions),
      productPermissions: productPermissions && sortProductPermissions(productPermissions),
    });
    if (changed.length === 0) return template;
    template.version += 1;
    const { permissions: six, productPermissions: product } = template;
    tx.record('role_template.updated', {
      templateId,
      name: template.name,
      permissions: six,
      ...describePermissionChange(before, product),
    });
    return template;
  });

/** Deletes a template. The roles of teams stay. @throws role_not_found */
export const deleteRoleTemplate = (db: TransactionScope, caller: Operating, templateId: string): Promise<void> =>
  change(db, caller, BY_OPERATOR, async ({ em, record }) => {
    const template = requireTemplate(await em.find(RoleTemplate, {}), templateId);
    em.remove(template);
    record('role_template.deleted', { templateId, name: template.name });
  });

/**
 * Requires permissions of the catalogue, and a recent proof if those that are added are privileged: each new team gets a
 * role with them. All operators are told of it. @throws validation_failed, proof_required
 */
async function requireProofToWiden(
  tx: Change,
  caller: Operating,
  { name, permissions, productPermissions }: Fields & { readonly productPermissions: readonly ProductPermission[] },
  held: Pick<RoleTemplate, 'permissions' | 'productPermissions'> = { permissions: [], productPermissions: [] },
): Promise<void> {
  const declared = await readDeclared(tx, productPermissions);
  requireDeclared(declared, productPermissions, { held: held.productPermissions, pointer: '/productPermissions' });
  const isWidened = isPrivileged({
    permissions: permissions.filter((each) => !held.permissions.includes(each)),
    isSensitive: isAnySensitive(
      declared,
      productPermissions.filter((each) => !held.productPermissions.includes(each)),
    ),
  });
  await requireProofOfOperatorIf(isWidened, tx, caller);
  if (isWidened) await notifyOperators(tx, { kind: 'role_template_widened', thing: name });
}

function requireTemplate(templates: readonly RoleTemplate[], templateId: string): RoleTemplate {
  const template = templates.find(({ id }) => id === templateId);
  if (template === undefined) throw new ProblemError('role_not_found', 'There is no role template with this id.');
  return template;
}

function requireFreeName(others: readonly RoleTemplate[], name: string): void {
  if ([...SYSTEM_ROLES, ...others].some((other) => looksLike(other.name, name)))
    throw invalidInput('/name', 'Another role template or a system role looks like this one.');
}
