import { isDeepStrictEqual } from 'node:util';
import { sortProductPermissions } from '../../auth/permissions.ts';
import type { OAuthClient, ProductPermission } from '../../entities/index.ts';
import { command } from '../../db/query.ts';
import { limitKeysOfGrants } from '../oauth-grants/reduce-grant.ts';
import { lockMany } from '../../transactions/locks.ts';
import type { Change } from '../../transactions/steps.ts';
import { requireDeclared, type Declared } from '../permissions/declared-permissions.ts';

/**
 * Replaces what a locked client asks its users for of the product. Its grants and their keys lose at once what it no longer
 * asks for; they get more only with another consent.
 * @param declared what the catalogue declares of the permissions, read under its lock before the client was locked
 * @returns whether that changes something
 */
export async function replacePermissions(
  opened: Change,
  client: OAuthClient,
  permissions: readonly ProductPermission[],
  declared: readonly Declared[],
): Promise<boolean> {
  requireDeclared(declared, permissions, { held: client.productPermissions, pointer: '/permissions' });
  const next = sortProductPermissions(permissions);
  if (isDeepStrictEqual(next, client.productPermissions)) return false;
  client.productPermissions = next;
  const grants = await lockMany(opened, 'oauth_grant', { client: client.id, revokedAt: null });
  const wide = grants.filter(({ productPermissions }) => productPermissions.some((name) => !next.includes(name)));
  const names = next.join(' ');
  const ids = wide.map(({ id }) => id);
  await opened.run([
    [limitGrants, [names, ids.join(' ')]],
    [limitConsents, [names, client.id]],
  ]);
  await limitKeysOfGrants(opened, ids);
  return true;
}

const LIMITED = `array(select held.name from unnest(product_permissions) held(name)
  where held.name = any(string_to_array($1, ' ')) order by held.name)`;

const limitGrants = command<never>(
  'oauth_grant_update_permissions_of_client',
  `update oauth_grant set product_permissions = ${LIMITED} where id = any(string_to_array($2, ' '))`,
);

/** Of consents whose code is not exchanged yet. */
const limitConsents = command<never>(
  'oauth_token_family_update_permissions_of_client',
  `update oauth_token_family set product_permissions = ${LIMITED} where client_id = $2 and grant_id is null`,
);
