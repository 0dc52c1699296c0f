import { z } from 'zod';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
import { listKeysForPage } from './api-keys.queries.ts';
import {
  apiKeyOutput,
  createdApiKeyOutput,
  keyUsageInput,
  keyUsageOutput,
  listApiKeysQuery,
  listedKeyOutput,
  presentApiKey,
  renameKeyInput,
  revokeInTeamInput,
  rotateKeyInput,
  teamUsageOutput,
} from './api-keys.schema.ts';
import { requireKeyManager } from './key-manager.ts';
import { revokeKeyInTeam } from './revocation.service.ts';
import { renameApiKey } from './rename.service.ts';
import { rotateApiKey } from './rotation.service.ts';
import { readKeyUsage, readTeamUsage } from './usage.queries.ts';

/** Procedures of the API key pages that REST does not have. */
export const apiKeysConsoleRouter = router({
  list: sessionProcedure
    .input(z.object(listApiKeysQuery))
    .output(z.array(listedKeyOutput))
    .query(async ({ ctx, input: { teamId } }) => {
      if (teamId !== undefined) await requireKeyManager(ctx, teamId);
      return listKeysForPage(ctx.services.db, ctx.principal.accountId, teamId);
    }),

  usage: sessionProcedure
    .input(keyUsageInput)
    .output(keyUsageOutput)
    .query(async ({ ctx, input: { keyId, teamId } }) => {
      if (teamId !== undefined) await requireKeyManager(ctx, teamId);
      return readKeyUsage(ctx.services.db, ctx.principal.accountId, keyId, teamId);
    }),

  usageOfTeam: sessionProcedure
    .input(z.object({ teamId: resourceId }))
    .output(teamUsageOutput)
    .query(async ({ ctx, input: { teamId } }) => {
      await requireKeyManager(ctx, teamId);
      return readTeamUsage(ctx.services.db, teamId);
    }),

  rename: sessionProcedure
    .input(renameKeyInput)
    .output(apiKeyOutput)
    .mutation(async ({ ctx: { services, principal }, input: { keyId, name } }) =>
      presentApiKey(await renameApiKey(services, principal, keyId, name)),
    ),

  rotate: sessionProcedure
    .input(rotateKeyInput)
    .output(createdApiKeyOutput)
    .mutation(async ({ ctx: { services, principal }, input: { keyId, overlapHours } }) => {
      // A new secret gives access as a new key does.
      await requireRecentProof(services.db, principal);
      const { key, secret } = await rotateApiKey(services, principal, keyId, overlapHours);
      return { key: presentApiKey(key), secret };
    }),

  revokeInTeam: sessionProcedure
    .input(revokeInTeamInput)
    .output(success)
    .mutation(async ({ ctx, input: { teamId, keyId } }) => {
      await requireKeyManager(ctx, teamId);
      const { services, principal } = ctx;
      await revokeKeyInTeam(services, { teamId, accountId: principal.accountId, credential: principal }, keyId);
      return SUCCESS;
    }),
});
