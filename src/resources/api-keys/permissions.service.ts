import { sortProductPermissions } from '../../auth/permissions.ts';
import type { Principal } from '../../auth/principal.ts';
import { activeMembership } from '../../db/predicates.ts';
import { command, query } from '../../db/query.ts';
import type { ProductPermission } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import { noticeSteps, noticeTargetStep } from '../../jobs/notify.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import {
  lockGrantOfKey,
  lockGrantShared,
  lockKeysOfAccount,
  lockSessionShared,
  type KeyRow,
} from '../../transactions/lock-credentials.ts';
import { requireChangeable } from '../../transactions/operator-caller.ts';
import { requireProofIf } from '../../transactions/require-proof.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import { declaredSteps, requireDeclared, type Declared } from '../permissions/declared-permissions.ts';
import { describePermissionChange } from '../../events/permission-change.ts';
import { toEventFields, toKey } from './api-keys.service.ts';
import { requireAllowed } from './creation.service.ts';

const setProductPermissions = command<never>(
  'api_key_update_permissions_of_one',
  `update api_key set product_permissions = string_to_array($2, ' ') where id = $1`,
);

/** Reads what the creator of a team key holds of the product in its team. */
const heldInTeamOf = query<{ held: ProductPermission[] }>(
  'role_find_permissions_of_key',
  `select r.product_permissions as held
   from api_key k
   join membership m on m.account_id = k.account_id and m.team_id = k.team_id and ${activeMembership('m')}
   join role r on r.id = m.role_id
   where k.id = $1`,
);

/**
 * Replaces what a key of an account can have of the product. Its scopes stay. Its account is notified if it gets more.
 * @param caller the account, or an operator, who can give a key more than they have
 * @throws session_required (403) for an operator key and the account of an operator
 */
export function setKeyPermissions(
  db: TransactionScope,
  caller: Principal | OperatorCaller,
  { id: keyId, accountId }: { readonly id: string; readonly accountId: string },
  permissions: readonly ProductPermission[],
) {
  const { kind, credentialId, sessionId = null } = 'operator' in caller ? NO_CREDENTIAL : caller;
  const reads = [
    ...declaredSteps(permissions),
    [heldInTeamOf, [keyId]],
    // What the caller’s permissions depend on: see `updateApiKey`.
    [lockSessionShared, [kind === 'session' ? credentialId : sessionId]],
    [lockGrantShared, [kind === 'oauth-grant' ? credentialId : null]],
    [lockGrantOfKey, [keyId]],
    [lockKeysOfAccount, [accountId, keyId, credentialId]],
    noticeTargetStep(accountId),
  ] as const;
  const spec = { on: { account: accountId, isShared: true }, requires: 'self', reads } as const;
  return change(db, caller, spec, async (opened, [, declared, [inTeam], , [ownGrant], [grant], keys, targets]) => {
    const row = keys.find(({ id }) => id === keyId);
    if (row === undefined) throw new ProblemError('api_key_not_found');
    const added = addedTo(row, permissions, declared);
    if ('operator' in caller) {
      if (added.length > 0) requireChangeable(caller, opened.account);
    } else {
      const own = kind === 'api-key' ? keys.find(({ id }) => id === credentialId) : ownGrant;
      const hasAll = kind === 'session' || sessionId !== null;
      requireAllowed(
        added,
        hasAll ? null : (own?.product_permissions ?? []),
        row.team_id === null ? null : (inTeam?.held ?? []),
      );
      requireAllowed(added, grant?.product_permissions ?? null, null);
      await requireProofIf(added.length > 0, opened, caller);
    }
    return replace(opened, row, permissions, added.length > 0 ? noticesOf(row, targets) : []);
  });
}

/** Operators have no permissions of their own to read. */
const NO_CREDENTIAL = { kind: null, credentialId: null, sessionId: null };

function addedTo(
  { product_permissions: held }: KeyRow,
  permissions: readonly ProductPermission[],
  declared: readonly Declared[],
): ProductPermission[] {
  requireDeclared(declared, permissions, { held, isForKeys: true, pointer: '/permissions' });
  return permissions.filter((name) => !held.includes(name));
}

const noticesOf = (row: KeyRow, targets: Parameters<typeof noticeSteps>[1]) =>
  noticeSteps(row.account_id, targets, { kind: 'api_key_widened', thing: row.name, teamId: row.team_id ?? undefined });

function replace(
  opened: Change,
  row: KeyRow,
  permissions: readonly ProductPermission[],
  notices: ReturnType<typeof noticesOf>,
) {
  const productPermissions = sortProductPermissions(permissions);
  const key = { ...toKey(row), productPermissions };
  const changed = describePermissionChange(row.product_permissions, productPermissions);
  if (changed.productPermissions === undefined) return key;
  opened.later([setProductPermissions, [row.id, productPermissions.join(' ')]]);
  opened.record('api_key.updated', { accountId: row.account_id, ...toEventFields(key), ...changed });
  for (const step of notices) opened.later(step);
  return key;
}
