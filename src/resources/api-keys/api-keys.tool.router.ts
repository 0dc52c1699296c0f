import { z } from 'zod';
import type { Principal } from '../../auth/principal.ts';
import { sortScopes } from '../../auth/scopes.ts';
import { ProblemError } from '../../problems/error.ts';
import { resourceId } from '../../procedures/fields.ts';
import { plannedChange } from '../../procedures/planned-change.ts';
import { accountProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import type { QueryRunner } from '../../db/query.ts';
import { findOwnKey } from './api-keys.queries.ts';
import { updateApiKeyInput } from './api-keys.schema.ts';
import { requireForKind, requireHeldScopes } from './api-keys.service.ts';

/** Describes changes of API keys before they are made, with the access and the input of the operations. */
export const apiKeysToolRouter = router({
  updateApiKey: accountProcedure('api-keys:write')
    .input(z.object(updateApiKeyInput))
    .output(plannedChange)
    .query(async ({ ctx: { services, principal }, input }) => {
      const { scopes, ...key } = await describeKey(services.db, principal, input.keyId);
      const after = sortScopes(input.scopes);
      requireForKind(after, key.team !== null);
      requireHeldScopes(principal.scopes, after, 'The calling credential');
      const [added, removed] = [minus(after, scopes), minus(scopes, after)];
      return {
        ...key,
        before: { scopes },
        after: { scopes: after },
        effects: [
          ...(removed.length > 0 ? [`The key loses: ${removed.join(', ')}.`] : []),
          ...(added.length > 0 ? [`The key gets: ${added.join(', ')}.`] : []),
          ...key.effects,
        ],
      };
    }),

  revokeApiKey: accountProcedure('api-keys:write')
    .input(z.object({ keyId: resourceId }))
    .output(plannedChange)
    .query(async ({ ctx: { services, principal }, input }) => {
      const { scopes, ...key } = await describeKey(services.db, principal, input.keyId);
      return {
        ...key,
        before: { scopes },
        after: null,
        effects: ['Whatever uses the key is denied from then on.', ...key.effects],
      };
    }),
});

/** @throws api_key_not_found for keys that the account did not create */
async function describeKey(db: QueryRunner, { accountId, credentialId }: Principal, keyId: string) {
  const key = await findOwnKey(db, accountId, keyId);
  if (key === null) throw new ProblemError('api_key_not_found');
  return {
    kind: 'api key' as const,
    id: key.id,
    name: key.name,
    team: key.team,
    scopes: key.scopes,
    effects: key.id === credentialId ? ['It is the key that makes this call.'] : [],
  };
}

const minus = (scopes: readonly string[], others: readonly string[]) =>
  scopes.filter((scope) => !others.includes(scope));
