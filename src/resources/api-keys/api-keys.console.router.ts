import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { accountProcedure, sessionOrAppProcedure, sessionProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { listKeysForPage } from './api-keys.queries.ts';
import {
  apiKeyOutput,
  createdApiKeyOutput,
  createdFullKeyOutput,
  createFullKeyInput,
  fullKeyOutput,
  keyUsageInput,
  keyUsageOutput,
  listApiKeysQuery,
  listedKeyOutput,
  presentApiKey,
  presentFullKey,
  renameKeyInput,
  revokeInTeamInput,
  rotateKeyInput,
  setPermissionsInput,
  teamUsageOutput,
} from './api-keys.schema.ts';
import { createApiKey } from './creation.service.ts';
import { requireKeyManager } from './key-manager.ts';
import { setKeyPermissions } from './permissions.service.ts';
import { revokeKeyInTeam } from './revocation.service.ts';
import { renameApiKey } from './rename.service.ts';
import { rotateApiKey } from './rotation.service.ts';
import { readKeyUsage, readTeamUsage } from './usage.queries.ts';

/** Procedures of the API key pages that REST does not have. */
export const apiKeysConsoleRouter = router({
  list: sessionOrAppProcedure('api-keys:read')
    .input(z.object(listApiKeysQuery))
    .output(z.array(listedKeyOutput))
    .query(async ({ ctx, input: { teamId } }) => {
      if (teamId !== undefined) await requireKeyManager(ctx, teamId);
      return asItems(listKeysForPage(ctx.services.db, ctx.principal.accountId, teamId));
    }),

  usage: sessionOrAppProcedure('api-keys:read')
    .input(keyUsageInput)
    .output(keyUsageOutput)
    .query(async ({ ctx, input: { keyId, teamId } }) => {
      if (teamId !== undefined) await requireKeyManager(ctx, teamId);
      return readKeyUsage(ctx.services.db, ctx.principal.accountId, keyId, teamId);
    }),

  usageOfTeam: sessionOrAppProcedure('api-keys:read')
    .input(z.object({ teamId: resourceId }))
    .output(teamUsageOutput)
    .query(async ({ ctx, input: { teamId } }) => {
      await requireKeyManager(ctx, teamId);
      return readTeamUsage(ctx.services.db, teamId);
    }),

  /** Creates a key like `createApiKey`, with what it can have of the operator’s product. It needs no scope then. */
  create: accountProcedure('api-keys:write')
    .meta({ effect: 'widens' })
    .input(createFullKeyInput)
    .output(createdFullKeyOutput)
    .mutation(async ({ ctx, input: { expiresInDays, ...input } }) => {
      if (input.teamId !== undefined) await requireKeyManager(ctx, input.teamId);
      const expiresAt = expiresInDays === undefined ? null : { days: expiresInDays };
      const { key, secret } = await createApiKey(ctx.services, ctx.principal, { ...input, expiresAt });
      return { key: presentFullKey(key), secret };
    }),

  setPermissions: accountProcedure('api-keys:write')
    .meta({ effect: 'widens if it adds permissions' })
    .input(setPermissionsInput)
    .output(fullKeyOutput)
    .mutation(async ({ ctx: { services, principal }, input: { keyId, permissions } }) =>
      presentFullKey(
        await setKeyPermissions(services.db, principal, { id: keyId, accountId: principal.accountId }, permissions),
      ),
    ),

  rename: sessionOrAppProcedure('api-keys:write')
    .meta({ effect: 'none' })
    .input(renameKeyInput)
    .output(apiKeyOutput)
    .mutation(async ({ ctx: { services, principal }, input: { keyId, name } }) =>
      presentApiKey(await renameApiKey(services.db, principal, keyId, name)),
    ),

  rotate: sessionProcedure
    .meta({ effect: 'widens' })
    .input(rotateKeyInput)
    .output(createdApiKeyOutput)
    .mutation(async ({ ctx: { services, principal }, input: { keyId, overlapHours } }) => {
      const { key, secret } = await rotateApiKey(services, principal, keyId, overlapHours);
      return { key: presentApiKey(key), secret };
    }),

  revokeInTeam: sessionOrAppProcedure('api-keys:write')
    .meta({ effect: 'none' })
    .input(revokeInTeamInput)
    .output(success)
    .mutation(async ({ ctx, input: { teamId, keyId } }) => {
      await requireKeyManager(ctx, teamId);
      const { services, principal } = ctx;
      await revokeKeyInTeam(services.db, { teamId, accountId: principal.accountId, credential: principal }, keyId);
      return SUCCESS;
    }),
});
