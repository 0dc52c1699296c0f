import { z } from 'zod';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { requireRecentProof } from '../../auth/recent-proof.ts';
import { listKeysForPage } from './api-keys.queries.ts';
import {
  createdApiKeyOutput,
  listApiKeysQuery,
  listedKeyOutput,
  presentApiKey,
  revokeInTeamInput,
  rotateKeyInput,
} from './api-keys.schema.ts';
import { requireKeyManager } from './key-manager.ts';
import { revokeKeyInTeam } from './revocation.service.ts';
import { rotateApiKey } from './rotation.service.ts';

/** Procedures of the API key pages that REST does not have. */
export const apiKeysConsoleRouter = router({
  list: sessionProcedure
    .input(z.object(listApiKeysQuery))
    .output(z.array(listedKeyOutput))
    .query(async ({ ctx, input: { teamId } }) => {
      if (teamId !== undefined) await requireKeyManager(ctx, teamId);
      return listKeysForPage(ctx.services.db, ctx.principal.accountId, teamId);
    }),

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
