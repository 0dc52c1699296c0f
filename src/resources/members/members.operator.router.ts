import { cursorsOf } from '../../procedures/cursors.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { addMember, removeMember, setMember } from './members.service.ts';
import { changeAs } from '../operator/change.ts';
import { listMembers, readMember } from '../operator/member-list.queries.ts';
import {
  addMemberInput,
  listMembersInput,
  memberInput,
  memberOutput,
  membersOutput,
  updateMemberInput,
} from '../operator/operator-api.schema.ts';
import { toAccountId, toTeamId } from '../operator/references.ts';
import { recordView } from '../operator/views.ts';

const accountId = 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol';
const member = {
  membershipId: 'mem_0cn7s5l4aqrkd9n2f3v8u6c1tg',
  accountId,
  externalId: 'customer-4711',
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: { id: 'member', name: 'Member' },
  isActive: true,
  joinedAt: '2026-11-21T09:30:00.000Z',
  expiresAt: null,
};

const toInstant = (text: string | null | undefined): Date | null | undefined =>
  text ? new Date(text) : (text as null);

/** The members of teams, for the operator's backend. */
export const createOperatorMembersRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listMembers: operatorProcedure('teams:read')
      .meta(
        endpoint('listMembers', 'GET /operator/v1/teams/{teamId}/members', {
          summary: 'List the members of a team',
          description: 'In the order in which they were added, also inactive and expired ones.',
          returns: 'A page of members.',
          errors: ['team_not_found'],
          example: { answer: { members: [member], nextCursor: null } },
        }),
      )
      .input(listMembersInput)
      .output(membersOutput)
      .query(async ({ ctx, input: { teamId, cursor, limit } }) => {
        const { db } = ctx.services;
        const id = await toTeamId(db, teamId);
        const page = await listMembers(db, cursorsOf(ctx), id, cursor, limit);
        await recordView(ctx, { teamId: id });
        return page;
      }),

    addMember: operatorProcedure('teams:write')
      .meta(
        endpoint('addMember', 'POST /operator/v1/teams/{teamId}/members', {
          summary: 'Add an account to a team',
          description:
            'Without an invitation; the seats of the plan do not limit it. A disabled account cannot be added.',
          returns: 'The member.',
          effect: 'widens',
          status: 201,
          errors: ['team_not_found', 'account_not_found', 'already_taken', 'role_not_assignable'],
          example: { body: { accountId, roleId: 'member' }, answer: member },
        }),
      )
      .input(addMemberInput)
      .output(memberOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const [team, account] = [await toTeamId(db, input.teamId), await toAccountId(db, input.accountId)];
          const { roleId, isActive, expiresAt } = input;
          await addMember(db, caller, team, account, { roleId, isActive, expiresAt: toInstant(expiresAt) });
          return readMember(db, team, account);
        }),
      ),

    updateMember: operatorProcedure('teams:write')
      .meta(
        endpoint('updateMember', 'PATCH /operator/v1/teams/{teamId}/members/{accountId}', {
          summary: 'Change a membership',
          description: 'Members that are left out keep their value. The owner’s membership cannot be changed.',
          returns: 'The member.',
          effect: 'widens',
          errors: [
            'team_not_found',
            'account_not_found',
            'member_not_found',
            'role_not_assignable',
            'owner_not_removable',
          ],
          example: { body: { roleId: 'guest' }, answer: { ...member, role: { id: 'guest', name: 'Guest' } } },
        }),
      )
      .input(updateMemberInput)
      .output(memberOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const [team, account] = [await toTeamId(db, input.teamId), await toAccountId(db, input.accountId)];
          const { roleId, isActive, expiresAt } = input;
          await setMember(db, caller, team, account, { roleId, isActive, expiresAt: toInstant(expiresAt) });
          return readMember(db, team, account);
        }),
      ),

    removeMember: operatorProcedure('teams:write')
      .meta(
        endpoint('removeMember', 'DELETE /operator/v1/teams/{teamId}/members/{accountId}', {
          summary: 'Remove a member from a team',
          description: 'Also revokes their keys and grants for the team.',
          returns: 'The member is removed.',
          effect: 'none',
          errors: ['team_not_found', 'account_not_found', 'member_not_found', 'owner_not_removable'],
          example: { answer: { success: true } },
        }),
      )
      .input(memberInput)
      .output(success)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          await removeMember(db, caller, await toTeamId(db, input.teamId), await toAccountId(db, input.accountId));
          return SUCCESS;
        }),
      ),
  });
