import { z } from 'zod';
import { asItems } from '../../procedures/lists.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { listTeamRoles } from './roles.queries.ts';
import { roleOutput } from './roles.schema.ts';

export const rolesRouter = router({
  listTeamRoles: teamProcedure({ scope: 'members:read', permission: 'access_dashboard' })
    .meta(
      endpoint('listTeamRoles', 'GET /api/v1/teams/{teamId}/roles', {
        summary: 'List the roles of a team',
        description: 'Every role id that an invitation accepts, and `owner`, which it does not.',
        returns: 'The system roles, then the custom ones.',
      }),
    )
    .output(z.array(roleOutput))
    .query(({ ctx }) => asItems(listTeamRoles(ctx.services.db, ctx.membership))),
});
