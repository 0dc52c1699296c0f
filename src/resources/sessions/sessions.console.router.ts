import { z } from 'zod';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { transaction } from '../../transactions/transaction.ts';
import { listSessionsWithUse } from './sessions.queries.ts';
import { sessionWithUseOutput } from './sessions.schema.ts';
import { revokeSessions } from './sessions.service.ts';

/** The console's procedures for sessions. Available only over tRPC. */
export const sessionsConsoleRouter = router({
  list: sessionProcedure
    .output(z.array(sessionWithUseOutput))
    .query(({ ctx }) => listSessionsWithUse(ctx.services.db, ctx.principal)),

  revokeOthers: sessionProcedure
    .output(z.object({ revoked: z.int() }))
    .mutation(async ({ ctx: { services, principal } }) => ({
      revoked: await transaction(services.db, (tx) =>
        revokeSessions(tx, { account: principal.accountId, except: principal.credentialId }, 'by the account'),
      ),
    })),
});
