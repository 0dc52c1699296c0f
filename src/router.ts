import { accountConsoleRouter } from './resources/accounts/accounts.console.router.ts';
import { apiKeysConsoleRouter } from './resources/api-keys/api-keys.console.router.ts';
import { apiKeysOperatorRouter } from './resources/api-keys/api-keys.operator.router.ts';
import { apiKeysRouter } from './resources/api-keys/api-keys.router.ts';
import { auditConsoleRouter } from './resources/audit-log/audit-log.console.router.ts';
import { authorizationsRouter } from './resources/oauth-consent/oauth-consent.router.ts';
import { authRouter } from './resources/sign-in/sign-in.router.ts';
import { billingRouter } from './resources/billing/billing.router.ts';
import { credentialsOperatorRouter } from './resources/credential-verification/credential-verification.operator.router.ts';
import { credentialRouter } from './resources/current-credential/current-credential.router.ts';
import { eventsOperatorRouter } from './resources/events/events.operator.router.ts';
import { eventsRouter } from './resources/events/events.router.ts';
import { grantsRouter } from './resources/oauth-grants/oauth-grants.router.ts';
import { importsOperatorRouter } from './resources/imports/imports.operator.router.ts';
import { invitationsConsoleRouter } from './resources/invitations/invitations.console.router.ts';
import { invitationsRouter } from './resources/invitations/invitations.router.ts';
import { meRouter } from './resources/me/me.router.ts';
import { membersConsoleRouter } from './resources/members/members.console.router.ts';
import { membersRouter } from './resources/members/members.router.ts';
import { metadataConsoleRouter } from './resources/metadata/metadata.console.router.ts';
import { oauthClientsRouter } from './resources/oauth-clients/oauth-clients.router.ts';
import { createOperatorAccountsRouter } from './resources/accounts/accounts.operator.router.ts';
import { createOperatorClientsRouter } from './resources/oauth-clients/oauth-clients.operator.router.ts';
import { createOperatorMembersRouter } from './resources/members/members.operator.router.ts';
import { createOperatorMetadataRouter } from './resources/metadata/metadata.operator.router.ts';
import { createOperatorPermissionsRouter } from './resources/permissions/permissions.operator.router.ts';
import { createOperatorRoleTemplatesRouter } from './resources/roles/role-templates.operator.router.ts';
import { createOperatorRolesRouter } from './resources/roles/roles.operator.router.ts';
import { createOperatorTeamsRouter } from './resources/teams/teams.operator.router.ts';
import { operatorConsoleRouter } from './resources/operator/operator.console.router.ts';
import { createOperatorKeysRouter } from './resources/operator-keys/operator-keys.router.ts';
import { passkeysRouter } from './resources/passkeys/passkeys.router.ts';
import { permissionsConsoleRouter } from './resources/permissions/permissions.console.router.ts';
import { permissionsAreaRouter } from './resources/permissions/permissions.area.router.ts';
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
  createOperatorClientsRouter(forOperatorKeys),
  createOperatorAccountsRouter(forOperatorKeys),
  createOperatorTeamsRouter(forOperatorKeys),
  createOperatorMembersRouter(forOperatorKeys),
  createOperatorMetadataRouter(forOperatorKeys),
  apiKeysOperatorRouter,
  createOperatorRolesRouter(forOperatorKeys),
  createOperatorRoleTemplatesRouter(forOperatorKeys),
  createOperatorPermissionsRouter(forOperatorKeys),
  webhooksOperatorRouter,
  importsOperatorRouter,
);

/** The operator's area of the console: its own procedures, and operations of the operator API for a signed-in operator. */
const operatorAreaRouter = mergeRouters(
  operatorConsoleRouter,
  permissionsAreaRouter,
  createOperatorKeysRouter(forOperatorSessions),
  createOperatorClientsRouter(forOperatorSessions),
  createOperatorAccountsRouter(forOperatorSessions),
  createOperatorTeamsRouter(forOperatorSessions),
  createOperatorMembersRouter(forOperatorSessions),
  createOperatorMetadataRouter(forOperatorSessions),
  createOperatorRolesRouter(forOperatorSessions),
  createOperatorRoleTemplatesRouter(forOperatorSessions),
  createOperatorPermissionsRouter(forOperatorSessions),
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
    metadata: metadataConsoleRouter,
    roles: rolesConsoleRouter,
    permissions: permissionsConsoleRouter,
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
