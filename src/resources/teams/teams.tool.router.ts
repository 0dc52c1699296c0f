import { toReadableNames } from '../../procedures/fields.ts';
import { plannedChange } from '../../procedures/planned-change.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { updateTeamBody } from './teams.schema.ts';

/** Describes changes of teams before they are made, with the access and the input of the operation. */
export const teamsToolRouter = router({
  updateTeam: teamProcedure({ scope: 'teams:write', permission: 'edit_team_settings', input: updateTeamBody })
    .output(plannedChange)
    .query(({ ctx, input }) => {
      const after = toReadableNames(ctx, { name: input.name });
      const { id, name } = ctx.membership.team;
      return {
        kind: 'team' as const,
        id,
        name,
        team: { id, name },
        before: { name },
        after,
        effects: ['All members see the new name.'],
      };
    }),
});
