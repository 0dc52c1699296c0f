import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '../../auth/principal.ts';
import { isAccountOnly, sortScopes } from '../../auth/scopes.ts';
import { command } from '../../db/query.ts';
import type { Scope } from '../../entities/index.ts';
import { ProblemError } from '../../problems/error.ts';
import type { EventFields } from '../../events/event.ts';
import { noticeSteps, noticeTargetStep } from '../../jobs/notify.ts';
import { change } from '../../transactions/change.ts';
import {
  lockGrantOfKey,
  lockGrantShared,
  lockKeysOfAccount,
  lockSessionShared,
  type KeyRow,
} from '../../transactions/lock-credentials.ts';
import { requireProofIf } from '../../transactions/require-proof.ts';
import type { TransactionScope } from '../../transactions/steps.ts';

const setScopes = command<never>(
  'api_key_update_scopes',
  `update api_key set scopes = string_to_array($2, ' ') where id = $1`,
);

/** Replaces the scopes of an API key that the account created. */
export function updateApiKey(db: TransactionScope, caller: Principal, keyId: string, scopes: readonly Scope[]) {
  const { accountId, kind, credentialId } = caller;
  const reads = [
    // What the caller's scopes depend on, so that a credential that is being revoked or reduced cannot widen a key with its
    // former ones. The calling key is locked with the one that changes.
    [lockSessionShared, [kind === 'session' ? credentialId : (caller.sessionId ?? null)]],
    [lockGrantShared, [kind === 'oauth-grant' ? credentialId : null]],
    // Which the key depends on, also when another member changes its scopes.
    [lockGrantOfKey, [keyId]],
    [lockKeysOfAccount, [accountId, keyId, credentialId]],
    noticeTargetStep(accountId),
  ] as const;
  const spec = { on: { account: accountId, isShared: true }, requires: 'self', reads } as const;
  return change(db, caller, spec, async (opened, [, [ownGrant], [grant], keys, targets]) => {
    const row = keys.find(({ id }) => id === keyId);
    if (row === undefined) throw new ProblemError('api_key_not_found');
    requireForKind(scopes, row.team_id !== null);
    const limit = kind === 'api-key' ? keys.find(({ id }) => id === credentialId) : ownGrant;
    // A token can hold less than its grant.
    const held = kind === 'session' ? caller.scopes : (limit?.scopes ?? []);
    requireHeldScopes(
      kind === 'oauth-grant' ? held.filter((scope) => caller.scopes.includes(scope)) : held,
      scopes,
      CALLER,
    );
    if (grant !== undefined) requireHeldScopes(grant.scopes, scopes, 'The grant that the key was created through');
    const isWidened = scopes.some((scope) => !row.scopes.includes(scope));
    await requireProofIf(isWidened, opened, caller);
    const key = { ...toKey(row), scopes: sortScopes(scopes) };
    if (!isDeepStrictEqual(row.scopes, key.scopes)) {
      opened.later([setScopes, [keyId, key.scopes.join(' ')]]);
      opened.record('api_key.updated', { ...toEventFields(key), scopes: key.scopes });
    }
    const notice = { kind: 'api_key_widened', thing: key.name, teamId: key.team?.id } as const;
    if (isWidened) for (const step of noticeSteps(accountId, targets, notice)) opened.later(step);
    return key;
  });
}

const CALLER = 'The calling credential';

/** Returns a locked key as it is presented. */
export const toKey = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  keyPrefix: row.key_prefix,
  last4: row.last4,
  scopes: row.scopes,
  productPermissions: row.product_permissions,
  team: row.team_id === null ? null : { id: row.team_id },
  createdAt: new Date(row.created_at),
  expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
  lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at),
});

type NamedKey = {
  readonly id: string;
  readonly name: string;
  readonly team?: { readonly id: string } | null | undefined;
};

/** Returns what events say about a key. Only keys of teams are named: personal ones are data of their owner. */
export const toEventFields = ({ id, name, team }: NamedKey): EventFields => ({
  keyId: id,
  teamId: team?.id ?? null,
  ...(team && { name }),
});

/** Requires scopes that a key can have: a team key none that is account-only. The detail names the others. */
export function requireForKind(scopes: readonly Scope[], isTeamKey: boolean): void {
  const accountOnly = isTeamKey ? sortScopes(scopes).filter(isAccountOnly) : [];
  if (accountOnly.length > 0) {
    throw new ProblemError('scope_account_only', `A team key cannot hold ${accountOnly.join(', ')}.`);
  }
}

/** Requires scopes that are held. The detail names the others. */
export function requireHeldScopes(held: readonly Scope[], scopes: readonly Scope[], holder: string): void {
  const beyond = sortScopes(scopes).filter((scope) => !held.includes(scope));
  if (beyond.length > 0) throw new ProblemError('scope_not_allowed', `${holder} does not hold ${beyond.join(', ')}.`);
}
