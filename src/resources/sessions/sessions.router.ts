import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { accountProcedure } from '../../procedures/procedures.ts';
import { resourceId, SUCCESS, success } from '../../procedures/fields.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { listMySessions } from './sessions.queries.ts';
import { sessionOutput } from './sessions.schema.ts';
import { revokeMySession } from './sessions.service.ts';

export const sessionsRouter = router({
  listMySessions: accountProcedure('profile:read')
    .meta(
      endpoint('listMySessions', 'GET /api/v1/me/sessions', {
        summary: "List the account's active sign-in sessions, newest first",
        returns: 'The active sessions, newest first.',
      }),
    )
    .output(z.array(sessionOutput))
    .query(({ ctx }) => asItems(listMySessions(ctx.services.db, ctx.principal))),

  revokeMySession: accountProcedure('profile:write')
    .meta(
      endpoint('revokeMySession', 'DELETE /api/v1/me/sessions/{sessionId}', {
        summary: 'Sign a session out',
        description: 'An unknown id changes nothing and succeeds.',
        returns: 'The session is signed out, or did not exist.',
        effect: 'none',
      }),
    )
    .input(z.object({ sessionId: resourceId }))
    .output(success)
    .mutation(async ({ ctx, input }) => {
      await revokeMySession(ctx.services.db, ctx.principal, input.sessionId);
      return SUCCESS;
    }),
});
