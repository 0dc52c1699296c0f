import type { Principal } from '../../auth/principal.ts';
import type { Step } from '../../db/query.ts';
import {
  lockFamilyOfKey,
  lockFamilyShared,
  lockGrantOfKey,
  lockGrantShared,
  lockKeyShared,
  lockSessionShared,
  type LockedKey,
  type OriginGrant,
} from '../../transactions/lock-credentials.ts';

/** The grant and token family that a key is created through. It cannot outlive them. */
export type KeyOrigin = { readonly grantId: string; readonly familyId: string | null; readonly expiresAt: Date };

/**
 * Locks the caller's credential, so that one that is being revoked or reduced cannot create a key with its former scopes,
 * and the grant and token family behind it: of an access token, or of an API key that was itself created through a
 * grant. None of them can be revoked or narrowed until the new key is committed.
 */
export function lockCredentialSteps(caller: Principal): readonly Step[] {
  const { kind, credentialId: id, tokenFamilyId = null, sessionId } = caller;
  if (kind === 'session') return [[lockSessionShared, [id]]];
  if (isOwnKey(caller)) return [[lockKeyShared, [id]]];
  if (sessionId)
    return [
      [lockSessionShared, [sessionId]],
      [lockGrantShared, [id]],
      [lockFamilyShared, [tokenFamilyId]],
    ];
  return kind === 'oauth-grant'
    ? [
        [lockGrantShared, [id]],
        [lockFamilyShared, [tokenFamilyId]],
      ]
    : [
        [lockGrantOfKey, [id]],
        [lockFamilyOfKey, [id]],
        [lockKeyShared, [id]],
      ];
}

/** Whether a key was not created through a grant. That never changes. */
const isOwnKey = ({ kind, clientId }: Principal): boolean => kind === 'api-key' && clientId === null;

/**
 * Reads the results of `lockCredentialSteps` for a credential that is still valid under its locks; `key` if it is one.
 * `productLimit` is what it can have of the product; null for all that the role holds.
 */
export function readHeld(caller: Principal, rows: readonly unknown[][]) {
  const { kind, scopes, tokenFamilyId = null, sessionId } = caller;
  if (kind === 'session') return { scopes, origin: null, key: null, productLimit: null };
  if (isOwnKey(caller)) {
    const [[key] = []] = rows as [LockedKey[]?]; // as the statement declares
    return { scopes: key?.scopes ?? [], origin: null, key: key ?? null, productLimit: key?.product_permissions ?? [] };
  }
  // The session of a first-party token is locked before its grant.
  const [[grant], , [key] = []] = (sessionId ? rows.slice(1) : rows) as [OriginGrant[], unknown[], LockedKey[]?]; // as the statements declare
  const familyId = kind === 'oauth-grant' ? tokenFamilyId : (key?.family_id ?? null);
  const origin: KeyOrigin | null =
    // What is created through a first-party client does not end with its tokens.
    grant === undefined || sessionId ? null : { grantId: grant.id, familyId, expiresAt: new Date(grant.expires_at) };
  // A token can hold less than its grant.
  const held = kind === 'oauth-grant' ? grant?.scopes.filter((scope) => scopes.includes(scope)) : key?.scopes;
  const limit = kind === 'oauth-grant' ? grant?.product_permissions : key?.product_permissions;
  return { scopes: held ?? [], origin, key: key ?? null, productLimit: sessionId ? null : (limit ?? []) };
}
