import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import { auditToolRouter } from '../resources/audit-log/audit-log.tool.router.ts';
import { eventsRouter } from '../resources/events/events.router.ts';
import { membersToolRouter } from '../resources/members/members.tool.router.ts';
import { callOf, declarationOf } from '../rest/routes.ts';
import type { ToolSource } from './tools.ts';

type Text = { readonly name: string; readonly summary: string; readonly description: string; readonly returns: string };

/** Describes reads of the console as sources of tools. */
export const consoleReads: readonly ToolSource[] = [
  toSource(membersToolRouter.previewRemoval, 'members.removalPreview', {
    name: 'previewMemberRemoval',
    summary: 'Preview the removal of a member',
    description: 'Lists what removeTeamMember would revoke besides the membership. Changes nothing.',
    returns:
      'A page of the API keys and their number, the number of applications, and whether an ownership offer would be withdrawn.',
  }),
  toSource(
    eventsRouter.list,
    'events.list',
    {
      name: 'listTeamEvents',
      summary: 'List the events of a team',
      description:
        'What happened in the team and who did it, oldest first, as far back as events are kept. Store `cursor` to go on later.',
      returns:
        'At most `limit` events, fewer if they are long, `cursor` for the argument `after`, and whether there are more now (`hasMore`).',
    },
    ['wait'], // would keep a connection of the agent open
  ),
  toSource(auditToolRouter.list, 'audit.list', {
    name: 'listTeamAuditLog',
    summary: 'List the audit log of a team',
    description:
      'Who did what in the team, also denied calls, newest first. Ids only: other tools have the names. For the data of changes use listTeamEvents.',
    returns: 'At most `limit` events, fewer if they are long, and `nextCursor` for the argument `cursor`.',
  }),
];
function toSource(
  procedure: AnyTRPCProcedure,
  path: string,
  { name, summary, description, returns }: Text,
  hidden: readonly string[] = [],
): ToolSource {
  const { meta, input, output } = declarationOf(procedure);
  return {
    operationId: name,
    method: 'GET',
    meta: { ...meta, returns, openapi: { method: 'GET', path: '/', summary, description } },
    input:
      input && z.object(Object.fromEntries(Object.entries(input.shape).filter(([member]) => !hidden.includes(member)))),
    output,
    call: callOf(procedure, path),
  };
}
