import { apiKeysRouter } from './resources/api-keys/api-keys.router.ts';
import { billingRouter } from './resources/billing/billing.router.ts';
import { credentialRouter } from './resources/credential/credential.router.ts';
import { invitationsRouter } from './resources/invitations/invitations.router.ts';
import { meRouter } from './resources/me/me.router.ts';
import { membersRouter } from './resources/members/members.router.ts';
import { rolesRouter } from './resources/roles/roles.router.ts';
import { sessionsRouter } from './resources/sessions/sessions.router.ts';
import { teamsRouter } from './resources/teams/teams.router.ts';
import { mergeRouters } from './rpc/trpc.ts';

/** Everything Roster does: each operation is a procedure, over REST and over tRPC. */
export const appRouter = mergeRouters(
  credentialRouter,
  meRouter,
  sessionsRouter,
  teamsRouter,
  membersRouter,
  rolesRouter,
  invitationsRouter,
  billingRouter,
  apiKeysRouter,
);

/** What a TypeScript client is typed by. */
export type AppRouter = typeof appRouter;
