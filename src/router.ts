import { accountConsoleRouter } from './resources/accounts/accounts.console.router.ts';
import { apiKeysConsoleRouter } from './resources/api-keys/api-keys.console.router.ts';
import { apiKeysRouter } from './resources/api-keys/api-keys.router.ts';
import { auditConsoleRouter } from './resources/audit-log/audit-log.console.router.ts';
import { authorizationsRouter } from './resources/oauth-consent/oauth-consent.router.ts';
import { authRouter } from './resources/sign-in/sign-in.router.ts';
import { billingRouter } from './resources/billing/billing.router.ts';
import { credentialsOperatorRouter } from './resources/credentials/credentials.operator.router.ts';
import { credentialRouter } from './resources/credential/credential.router.ts';
import { eventsOperatorRouter } from './resources/events/events.operator.router.ts';
import { eventsRouter } from './resources/events/events.router.ts';
import { grantsRouter } from './resources/oauth-grants/oauth-grants.router.ts';
import { importsOperatorRouter } from './resources/imports/imports.operator.router.ts';
import { invitationsConsoleRouter } from './resources/invitations/invitations.console.router.ts';
import { invitationsRouter } from './resources/invitations/invitations.router.ts';
import { meRouter } from './resources/me/me.router.ts';
import { membersConsoleRouter } from './resources/members/members.console.router.ts';
import { membersRouter } from './resources/members/members.router.ts';
import { oauthClientsRouter } from './resources/oauth-clients/oauth-clients.router.ts';
import { createOperatorAccountsRouter } from './resources/operator/accounts.router.ts';
import { createOperatorMembersRouter } from './resources/operator/members.router.ts';
import { createOperatorTeamsRouter } from './resources/operator/teams.router.ts';
import { operatorConsoleRouter } from './resources/operator/operator.console.router.ts';
import { createOperatorKeysRouter } from './resources/operator-keys/operator-keys.router.ts';
import { passkeysRouter } from './resources/passkeys/passkeys.router.ts';
import { rolesConsoleRouter } from './resources/roles/roles.console.router.ts';
import { rolesRouter } from './resources/roles/roles.router.ts';
import { sessionsConsoleRouter } from './resources/sessions/sessions.console.router.ts';
import { sessionsRouter } from './resources/sessions/sessions.router.ts';
import { teamsConsoleRouter } from './resources/teams/teams.console.router.ts';
import { teamsRouter } from './resources/teams/teams.router.ts';
import { webhooksOperatorRouter } from './resources/webhooks/webhooks.operator.router.ts';
import { webhooksConsoleRouter } from './resources/webhooks/webhooks.console.router.ts';
import { forOperatorKeys, forOperatorSessions } from './procedures/procedures.ts';
import { mergeRouters, router } from './procedures/trpc.ts';

/** The operations of `/api/v1`. */
export const apiRouter = mergeRouters(
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

/** The operations of `/operator/v1`. */
export const operatorRouter = mergeRouters(
  credentialsOperatorRouter,
  eventsOperatorRouter,
  createOperatorKeysRouter(forOperatorKeys),
  createOperatorAccountsRouter(forOperatorKeys),
  createOperatorTeamsRouter(forOperatorKeys),
  createOperatorMembersRouter(forOperatorKeys),
  webhooksOperatorRouter,
  importsOperatorRouter,
);

/** The operator's area of the console: its own procedures, and operations of the operator API for a signed-in operator. */
const operatorAreaRouter = mergeRouters(
  operatorConsoleRouter,
  createOperatorKeysRouter(forOperatorSessions),
  createOperatorAccountsRouter(forOperatorSessions),
  createOperatorTeamsRouter(forOperatorSessions),
  createOperatorMembersRouter(forOperatorSessions),
);

/** All procedures. */
export const appRouter = mergeRouters(
  apiRouter,
  router({
    auth: authRouter,
    authorizations: authorizationsRouter,
    account: accountConsoleRouter,
    sessions: sessionsConsoleRouter,
    teams: teamsConsoleRouter,
    members: membersConsoleRouter,
    roles: rolesConsoleRouter,
    invitations: invitationsConsoleRouter,
    passkeys: passkeysRouter,
    oauthClients: oauthClientsRouter,
    grants: grantsRouter,
    apiKeys: apiKeysConsoleRouter,
    audit: auditConsoleRouter,
    webhooks: webhooksConsoleRouter,
    events: eventsRouter,
    operator: operatorAreaRouter,
    operatorApi: operatorRouter,
  }),
);

/** The type of a TypeScript client. */
export type AppRouter = typeof appRouter;
