import { z } from 'zod';
import { resourceId } from '../../procedures/fields.ts';
import { plannedChange } from '../../procedures/planned-change.ts';
import { accountProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { listMySessions } from './sessions.queries.ts';

/** Describes changes of sessions before they are made, with the access and the input of the operation. */
export const sessionsToolRouter = router({
  revokeMySession: accountProcedure('profile:write')
    .input(z.object({ sessionId: resourceId }))
    .output(plannedChange)
    .query(async ({ ctx: { services, principal }, input: { sessionId: id } }) => {
      const session = (await listMySessions(services.db, principal)).items().find((one) => one.id === id);
      const isShown = principal.scopes.includes('profile:read');
      const device = [session?.browser, session?.os, session?.city].filter(Boolean).join(', ');
      return {
        kind: 'sign-in session' as const,
        id,
        name: isShown && device !== '' ? device : null,
        team: null,
        before: session !== undefined && isShown ? { createdAt: session.createdAt } : {},
        after: null,
        effects: [
          session === undefined
            ? 'Nothing: the account has no active session with this id.'
            : 'The browser of the session is signed out.',
        ],
      };
    }),
});
