import { z } from 'zod';
import { toReadableNames } from '../../procedures/fields.ts';
import { accountProcedure, scopedProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { asItems } from '../../procedures/lists.ts';
import { listTeams } from './teams.queries.ts';
import { createTeamBody, presentTeam, teamOutput, updateTeamBody } from './teams.schema.ts';
import { createTeam, updateTeam } from './teams.service.ts';

export const teamsRouter = router({
  listTeams: scopedProcedure('teams:read')
    .meta(
      endpoint('listTeams', 'GET /api/v1/teams', {
        summary: "List the caller's teams",
        description: 'Teams with an active membership, by name. A team credential lists its one team.',
        returns: 'The teams, each with the role of the account in it.',
      }),
    )
    .output(z.array(teamOutput))
    .query(({ ctx }) => asItems(listTeams(ctx.services.db, ctx.principal))),

  createTeam: accountProcedure('teams:write')
    .meta(
      endpoint('createTeam', 'POST /api/v1/teams', {
        summary: 'Create a team',
        description: 'The caller becomes its owner and first member. Denied at the team limit of the account.',
        returns: 'The new team.',
        effect: 'none',
        errors: ['team_limit_reached', 'email_not_verified'],
        status: 201,
      }),
    )
    .input(z.object(createTeamBody))
    .output(teamOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, principal } = ctx;
      const { name } = toReadableNames(ctx, { name: input.name });
      const creator = { caller: principal, teamLimit: services.config.teamLimit };
      return presentTeam(await createTeam(services.db, creator, principal.accountId, { ...input, name }));
    }),

  getTeam: teamProcedure({ scope: 'teams:read' })
    .meta(endpoint('getTeam', 'GET /api/v1/teams/{teamId}', { summary: 'Read a team', returns: 'The team.' }))
    .output(teamOutput)
    .query(({ ctx }) => presentTeam(ctx.membership)),

  updateTeam: teamProcedure({ scope: 'teams:write', permission: 'edit_team_settings', input: updateTeamBody })
    .meta(
      endpoint('updateTeam', 'PATCH /api/v1/teams/{teamId}', {
        summary: 'Rename a team',
        description: 'The slug does not change.',
        returns: 'The team with its new name.',
        effect: 'none',
      }),
    )
    .output(teamOutput)
    .mutation(async ({ ctx, input }) => {
      const { services, membership, caller } = ctx;
      const { name } = toReadableNames(ctx, { name: input.name });
      await updateTeam(services.db, caller, name);
      return presentTeam({ ...membership, team: { ...membership.team, name } });
    }),
});
