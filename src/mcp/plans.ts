import type { AnyTRPCProcedure } from '@trpc/server';
import { apiKeysToolRouter } from '../resources/api-keys/api-keys.tool.router.ts';
import { invitationsToolRouter } from '../resources/invitations/invitations.tool.router.ts';
import { meToolRouter } from '../resources/me/me.tool.router.ts';
import { membersToolRouter } from '../resources/members/members.tool.router.ts';
import { sessionsToolRouter } from '../resources/sessions/sessions.tool.router.ts';
import { teamsToolRouter } from '../resources/teams/teams.tool.router.ts';
import { callOf, type Route } from '../rest/routes.ts';

/** What describes the change of a destructive operation before it is made, by the name of the operation. */
const PROCEDURES: Readonly<Record<string, AnyTRPCProcedure>> = {
  updateMe: meToolRouter.updateMe,
  revokeMySession: sessionsToolRouter.revokeMySession,
  updateTeam: teamsToolRouter.updateTeam,
  removeTeamMember: membersToolRouter.removeTeamMember,
  revokeTeamInvitation: invitationsToolRouter.revokeTeamInvitation,
  updateApiKey: apiKeysToolRouter.updateApiKey,
  revokeApiKey: apiKeysToolRouter.revokeApiKey,
};

/** Returns what describes the change of an operation. Every destructive one needs it. */
export function planOf(operationId: string): Route['call'] {
  const procedure = PROCEDURES[operationId];
  if (procedure === undefined) throw new Error(`${operationId} is destructive and has no description of its change.`);
  return callOf(procedure, operationId);
}
