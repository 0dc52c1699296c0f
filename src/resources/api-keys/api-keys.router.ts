import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { accountProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success, toReadableNames } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { listPersonalKeys, listTeamKeys } from './api-keys.queries.ts';
import {
  apiKeyOutput,
  createApiKeyBody,
  createdApiKeyOutput,
  listApiKeysQuery,
  presentApiKey,
  updateApiKeyInput,
} from './api-keys.schema.ts';
import { updateApiKey } from './api-keys.service.ts';
import { createApiKey } from './creation.service.ts';
import { requireKeyManager } from './key-manager.ts';
import { revokeOwnKey } from './revocation.service.ts';

export const apiKeysRouter = router({
  listApiKeys: accountProcedure('api-keys:read')
    .meta(
      endpoint('listApiKeys', 'GET /api/v1/api-keys', {
        summary: 'List API keys',
        description: "The account's personal keys or, with `teamId`, all keys of that team (needs `manage_api_keys`).",
        returns: 'The keys that are not revoked, oldest first.',
        errors: ['team_not_found', 'permission_missing'],
      }),
    )
    .input(z.object(listApiKeysQuery))
    .output(z.array(apiKeyOutput))
    .query(async ({ ctx, input: { teamId } }) => {
      const { db } = ctx.services;
      if (teamId === undefined) return asItems(listPersonalKeys(db, ctx.principal.accountId));
      await requireKeyManager(ctx, teamId);
      return asItems(listTeamKeys(db, teamId));
    }),

  createApiKey: accountProcedure('api-keys:write')
    .meta(
      endpoint('createApiKey', 'POST /api/v1/api-keys', {
        summary: 'Create an API key',
        description:
          'The scopes must be among those of the calling credential; a team key cannot hold an account-only one. Only this response contains the secret.',
        returns: 'The new key and its secret.',
        effect: 'widens',
        secretOf: ({ key }: z.infer<typeof createdApiKeyOutput>) => key.id,
        errors: [
          'scope_not_allowed',
          'scope_account_only',
          'key_limit_reached',
          'email_not_verified',
          'team_not_found',
          'permission_missing',
        ],
        status: 201,
      }),
    )
    .input(z.object(createApiKeyBody))
    .output(createdApiKeyOutput)
    .mutation(async ({ ctx, input: { expiresInDays, ...input } }) => {
      const { name } = toReadableNames(ctx, { name: input.name });
      if (input.teamId !== undefined) await requireKeyManager(ctx, input.teamId);
      const expiresAt = expiresInDays === undefined ? null : { days: expiresInDays };
      const { key, secret } = await createApiKey(ctx.services, ctx.principal, { ...input, name, expiresAt });
      return { key: presentApiKey(key), secret };
    }),

  updateApiKey: accountProcedure('api-keys:write')
    .meta(
      endpoint('updateApiKey', 'PATCH /api/v1/api-keys/{keyId}', {
        summary: "Replace an API key's scopes",
        description: 'Effective for the next request, also for the calling key.',
        returns: 'The key with its new scopes.',
        effect: 'widens if it adds scopes',
        errors: ['scope_not_allowed', 'scope_account_only', 'api_key_not_found'],
      }),
    )
    .input(z.object(updateApiKeyInput))
    .output(apiKeyOutput)
    .mutation(async ({ ctx, input }) =>
      presentApiKey(await updateApiKey(ctx.services.db, ctx.principal, input.keyId, input.scopes)),
    ),

  revokeApiKey: accountProcedure('api-keys:write')
    .meta(
      endpoint('revokeApiKey', 'DELETE /api/v1/api-keys/{keyId}', {
        summary: 'Revoke an API key',
        description: 'Effective for the next request, also for the calling key.',
        returns: 'The key is revoked.',
        effect: 'none',
        errors: ['api_key_not_found'],
      }),
    )
    .input(z.object({ keyId: resourceId }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeOwnKey(ctx.services.db, ctx.principal, input.keyId);
      return SUCCESS;
    }),
});
