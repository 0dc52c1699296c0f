import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { listSessionsWithUse } from './sessions.queries.ts';
import { sessionWithUseOutput } from './sessions.schema.ts';
import { revokeOtherSessions } from './sessions.service.ts';

/** The console's procedures for sessions. Available only over tRPC. */
export const sessionsConsoleRouter = router({
  list: sessionProcedure
    .output(z.array(sessionWithUseOutput))
    .query(({ ctx }) => asItems(listSessionsWithUse(ctx.services.db, ctx.principal))),

  revokeOthers: sessionProcedure
    .meta({ effect: 'none' })
    .output(z.object({ revoked: z.int() }))
    .mutation(async ({ ctx: { services, principal } }) => ({
      revoked: await revokeOtherSessions(services.db, principal),
    })),
});
