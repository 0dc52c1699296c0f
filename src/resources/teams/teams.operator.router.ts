import { cursorsOf } from '../../procedures/cursors.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { getTeamBilling } from '../billing/billing.queries.ts';
import { setSubscription } from '../billing/billing.service.ts';
import { deleteTeam } from './leave-and-delete.service.ts';
import { transferOwnership } from './ownership.service.ts';
import { createTeam, updateTeamDetails } from './teams.service.ts';
import { changeAs } from '../operator/change.ts';
import {
  createTeamInput,
  listTeamsInput,
  setSubscriptionInput,
  subscriptionOutput,
  teamInput,
  teamOutput,
  teamsOutput,
  transferTeamInput,
  updateTeamInput,
} from '../operator/operator-api.schema.ts';
import { toAccountId, toTeamId } from '../operator/references.ts';
import { listTeams, readTeam } from '../operator/team-list.queries.ts';
import { recordView } from '../operator/views.ts';

const ownerId = 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol';
const team = {
  id: 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e',
  externalId: 'tenant-42',
  name: 'Analytical Engines',
  slug: 'analytical-engines',
  description: null,
  avatarUrl: null,
  ownerId,
  planId: 'pro',
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T10:05:12.345Z',
};
const set = { planId: 'pro', status: 'active', interval: 'month', addons: { seats: 3 } };
const subscription = {
  ...set,
  planName: 'Pro',
  planExpiresAt: '2026-12-21T09:30:00.000Z',
  cancelAtPeriodEnd: false,
  needsPaymentAction: false,
  version: 7,
};

/** Teams and their subscriptions, for the operator's backend. */
export const createOperatorTeamsRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listTeams: operatorProcedure('teams:read')
      .meta(
        endpoint('listTeams', 'GET /operator/v1/teams', {
          summary: 'List or search teams',
          description:
            'All in the order of their creation, or those that one of the searches finds, in the order of what it searches.',
          returns: 'A page of teams.',
          example: { answer: { teams: [team], nextCursor: null } },
        }),
      )
      .input(listTeamsInput)
      .output(teamsOutput)
      .query(async ({ ctx, input }) => {
        const page = await listTeams(ctx.services.db, cursorsOf(ctx), input);
        await recordView(ctx, { found: page.teams });
        return page;
      }),

    getTeam: operatorProcedure('teams:read')
      .meta(
        endpoint('getTeam', 'GET /operator/v1/teams/{teamId}', {
          summary: 'Read a team',
          returns: 'The team.',
          errors: ['team_not_found'],
          example: { answer: team },
        }),
      )
      .input(teamInput)
      .output(teamOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const found = await readTeam(db, await toTeamId(db, input.teamId));
        await recordView(ctx, { teamId: found.id });
        return found;
      }),

    createTeam: operatorProcedure('teams:write')
      .meta(
        endpoint('createTeam', 'POST /operator/v1/teams', {
          summary: 'Create a team with its owner',
          description:
            'The limit of teams that an account owns does not apply. An account that is disabled or has no verified email address gets no team.',
          returns: 'The team.',
          effect: 'none',
          status: 201,
          errors: ['account_not_found', 'email_not_verified', 'already_taken'],
          example: { body: { name: 'Analytical Engines', ownerId, externalId: 'tenant-42' }, answer: team },
        }),
      )
      .input(createTeamInput)
      .output(teamOutput)
      .mutation(({ ctx, input: { ownerId: owner, ...input } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const created = await createTeam(db, { caller }, await toAccountId(db, owner), input);
          return readTeam(db, created.team.id);
        }),
      ),

    updateTeam: operatorProcedure('teams:write')
      .meta(
        endpoint('updateTeam', 'PATCH /operator/v1/teams/{teamId}', {
          summary: 'Change a team',
          description: 'Members that are left out keep their value. The slug does not change.',
          returns: 'The team.',
          effect: 'none',
          errors: ['team_not_found', 'already_taken'],
          example: { body: { name: 'Analytical Engines' }, answer: team },
        }),
      )
      .input(updateTeamInput)
      .output(teamOutput)
      .mutation(({ ctx, input: { teamId, ...changes } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toTeamId(db, teamId);
          await updateTeamDetails(db, caller, id, changes);
          return readTeam(db, id);
        }),
      ),

    deleteTeam: operatorProcedure('teams:write')
      .meta(
        endpoint('deleteTeam', 'DELETE /operator/v1/teams/{teamId}', {
          summary: 'Delete a team',
          description: 'With its members, roles, invitations, keys and subscription.',
          returns: 'The team is deleted.',
          effect: 'weakens',
          errors: ['team_not_found'],
          example: { answer: { success: true } },
        }),
      )
      .input(teamInput)
      .output(success)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          await deleteTeam(db, caller, await toTeamId(db, input.teamId));
          return SUCCESS;
        }),
      ),

    transferTeam: operatorProcedure('teams:write')
      .meta(
        endpoint('transferTeam', 'POST /operator/v1/teams/{teamId}/transfer', {
          summary: 'Make an account the owner of a team',
          description: 'Whether it is a member or not. It must not be disabled. The former owner becomes a `member`.',
          returns: 'The team.',
          effect: 'weakens',
          errors: ['team_not_found', 'account_not_found', 'email_not_verified'],
          example: { body: { accountId: ownerId }, answer: team },
        }),
      )
      .input(transferTeamInput)
      .output(teamOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toTeamId(db, input.teamId);
          await transferOwnership(db, caller, id, await toAccountId(db, input.accountId));
          return readTeam(db, id);
        }),
      ),

    getSubscription: operatorProcedure('teams:read')
      .meta(
        endpoint('getSubscription', 'GET /operator/v1/teams/{teamId}/subscription', {
          summary: 'Read the subscription of a team',
          returns: 'The subscription; the default plan with version 0 for a team that never had one.',
          errors: ['team_not_found'],
          example: { answer: subscription },
          isVersioned: true,
        }),
      )
      .input(teamInput)
      .output(subscriptionOutput)
      .query(async ({ ctx, input }) => {
        const { services } = ctx;
        const { id } = await readTeam(services.db, await toTeamId(services.db, input.teamId));
        await recordView(ctx, { teamId: id });
        return getTeamBilling(services.db, services.config.plans, id);
      }),

    setSubscription: operatorProcedure('billing:write')
      .meta(
        endpoint('setSubscription', 'PUT /operator/v1/teams/{teamId}/subscription', {
          summary: 'Set the subscription of a team',
          description:
            'Replaces it: members that are left out get their defaults. What a team has depends on `planId` and `addons` alone: with the status `canceled` or `unpaid` it keeps the seats of its plan, until you set another one. Send `If-Match` (or `version`), so that billing events that arrive in another order do not undo each other.',
          returns: 'The subscription with its new version.',
          effect: 'none',
          errors: ['team_not_found', 'version_mismatch'],
          example: { body: set, answer: subscription },
          isVersioned: true,
        }),
      )
      .input(setSubscriptionInput)
      .output(subscriptionOutput)
      .mutation(({ ctx, input: { teamId, version, planExpiresAt, status, interval, ...input } }) =>
        changeAs(ctx, async ({ db, caller, config: { plans } }) => {
          const id = await toTeamId(db, teamId);
          const expiresAt = planExpiresAt ? new Date(planExpiresAt) : undefined;
          const fields = { ...input, status: status ?? undefined, interval: interval ?? undefined };
          await setSubscription(db, caller, plans, id, { ...fields, planExpiresAt: expiresAt }, version);
          return getTeamBilling(db, plans, id);
        }),
      ),
  });
