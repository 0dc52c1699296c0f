import { cursorsOf } from '../../procedures/cursors.ts';
import { forOperatorSessions, operatorProcedure } from '../../procedures/procedures.ts';
import { EVENTS, type EventName } from '../../events/catalogue.ts';
import { recordNow } from '../../transactions/record-now.ts';
import { listJobs, retryFailedJobs } from '../../jobs/job-list.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { revokeKey } from '../api-keys/revocation.service.ts';
import { router } from '../../procedures/trpc.ts';
import { listAuditEvents } from './audit.queries.ts';
import { changeAs } from './change.ts';
import { getHealth } from './health.queries.ts';
import { listAssignableRoles } from './role-list.queries.ts';
import { listKeysOf } from './key-list.queries.ts';
import { listManyMembers } from './member-list.queries.ts';
import { membersOutput } from './operator-api.schema.ts';
import { getAccount, getTeam } from './operator.queries.ts';
import {
  accountInput,
  accountOutput,
  auditInput,
  auditOutput,
  findInput,
  foundOutput,
  eventNamesOutput,
  healthOutput,
  jobsInput,
  jobsOutput,
  keyInput,
  keysInput,
  keysOutput,
  membersInput,
  plansOutput,
  retriedOutput,
  retryJobsInput,
  rolesOutput,
  teamInput,
  teamOutput,
} from './operator.schema.ts';
import { find } from './search.queries.ts';
import { recordView } from './views.ts';

const JOBS_MAX = 500;

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

  health: operatorProcedure
    .output(healthOutput)
    .query(({ ctx: { services, browserClient } }) => getHealth(services.db, browserClient.attempts)),

  members: forOperatorSessions('teams:read')
    .input(membersInput)
    .output(membersOutput)
    .query(async ({ ctx, input: { teamId, cursor } }) => {
      const page = await listManyMembers(ctx.services.db, cursorsOf(ctx), teamId, cursor);
      await recordView(ctx, { teamId });
      return page;
    }),

  keys: forOperatorSessions('accounts:read')
    .input(keysInput)
    .output(keysOutput)
    .query(async ({ ctx, input: { of, id, cursor, limit } }) => {
      const page = await listKeysOf(ctx.services.db, cursorsOf(ctx), { of, id }, cursor, limit);
      await recordView(ctx, of === 'account' ? { accountId: id } : { teamId: id });
      return page;
    }),

  revokeKey: forOperatorSessions('accounts:write')
    .meta({ effect: 'none' })
    .input(keyInput)
    .output(success)
    .mutation(({ ctx, input }) =>
      changeAs(ctx, async ({ db, caller }) => {
        await revokeKey(db, caller, input.keyId);
        return SUCCESS;
      }),
    ),

  jobs: operatorProcedure
    .input(jobsInput)
    .output(jobsOutput)
    .query(async ({ ctx, input: { state, after } }) => {
      const cursors = cursorsOf(ctx);
      const list = ['jobs', state] as const;
      const { id } = cursors.read(list, after) ?? { id: '0' };
      const rows = await listJobs(ctx.services.db, state, id, JOBS_MAX + 1);
      const jobs = rows.slice(0, JOBS_MAX);
      const last = rows.length > JOBS_MAX ? jobs.at(-1) : undefined;
      return { jobs, nextAfter: last === undefined ? null : cursors.write(list, { sort: '', id: last.id }) };
    }),

  retryJobs: forOperatorSessions('accounts:write')
    .meta({ effect: 'none' })
    .input(retryJobsInput)
    .output(retriedOutput)
    .mutation(({ ctx, input: { jobId = null } }) =>
      changeAs(ctx, async ({ db }) => ({ retried: await retryFailedJobs(db, jobId) })),
    ),

  roles: forOperatorSessions('teams:read')
    .input(teamInput)
    .output(rolesOutput)
    .query(({ ctx: { services }, input }) => listAssignableRoles(services.db, input.teamId)),

  eventNames: operatorProcedure.output(eventNamesOutput).query(() => (Object.keys(EVENTS) as EventName[]).toSorted()),

  plans: operatorProcedure
    .output(plansOutput)
    .query(({ ctx: { services } }) => [...services.config.plans.values()].map(({ id, name }) => ({ id, name }))),

  audit: forOperatorSessions('events:read')
    .input(auditInput)
    .output(auditOutput)
    .query(async ({ ctx, input: { from, to, ...search } }) => {
      const range = { from: from ? new Date(from) : undefined, to: to ? new Date(to) : undefined };
      const page = await listAuditEvents(ctx.services.db, cursorsOf(ctx), { ...search, ...range });
      await recordView(ctx, { auditOf: search.accountId });
      return page;
    }),
});
