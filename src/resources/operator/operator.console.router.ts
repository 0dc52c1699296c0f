import { operatorProcedure } from '../../procedures/procedures.ts';
import { recordNow } from '../../events/record.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { getHealth } from './health.queries.ts';
import { getAccount, getTeam } from './operator.queries.ts';
import {
  accountInput,
  accountOutput,
  findInput,
  foundOutput,
  healthOutput,
  teamInput,
  teamOutput,
} from './operator.schema.ts';
import { disableAccount, enableAccount } from './operator.service.ts';
import { find } from './search.queries.ts';

/** Procedures of the operator pages. Each that shows or changes user data records an event. */
export const operatorConsoleRouter = router({
  find: operatorProcedure
    .input(findInput)
    .output(foundOutput)
    .query(async ({ ctx: { services, principal }, input }) => {
      const result = await find(services.db, input.query);
      // Without the search text, which is usually an email address.
      const found = [...result.accounts, ...result.teams].map(({ id }) => id);
      await recordNow(services.db, 'operator.searched', { accountId: principal.accountId, found });
      return result;
    }),

  account: operatorProcedure
    .input(accountInput)
    .output(accountOutput)
    .query(async ({ ctx: { services, principal }, input }) => {
      const account = await getAccount(services.db, input.accountId);
      await recordNow(services.db, 'operator.account_viewed', {
        accountId: principal.accountId,
        subjectId: account.id,
      });
      return account;
    }),

  team: operatorProcedure
    .input(teamInput)
    .output(teamOutput)
    .query(async ({ ctx: { services, principal }, input }) => {
      const team = await getTeam(services.db, services.config.plans, input.teamId);
      await recordNow(services.db, 'operator.team_viewed', { accountId: principal.accountId, teamId: team.id });
      return team;
    }),

  disableAccount: operatorProcedure
    .input(accountInput)
    .output(success)
    .mutation(async ({ ctx: { services, principal }, input }) => {
      await disableAccount(services.db, principal.accountId, input.accountId);
      return SUCCESS;
    }),

  enableAccount: operatorProcedure
    .input(accountInput)
    .output(success)
    .mutation(async ({ ctx: { services, principal }, input }) => {
      await enableAccount(services.db, principal.accountId, input.accountId);
      return SUCCESS;
    }),

  health: operatorProcedure
    .output(healthOutput)
    .query(({ ctx: { services, browserClient } }) => getHealth(services.db, browserClient.attempts)),
});
