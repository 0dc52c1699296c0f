import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import {
  accountMetadataInput,
  memberMetadataInput,
  metadataOutput,
  teamMetadataInput,
  updateAccountMetadataInput,
  updateMemberMetadataInput,
  updateTeamMetadataInput,
} from './metadata.schema.ts';
import { readAccountMetadata, readMemberMetadata, readTeamMetadata } from './metadata.queries.ts';
import { updateAccountMetadata, updateMemberMetadata, updateTeamMetadata } from './metadata.service.ts';
import { changeAs } from '../operator/change.ts';
import { readTeam } from '../operator/team-list.queries.ts';
import { toAccountId, toTeamId } from '../operator/references.ts';
import { recordView } from '../operator/views.ts';

const ACCOUNT = '/operator/v1/accounts/{accountId}/metadata' as const;
const TEAM = '/operator/v1/teams/{teamId}/metadata' as const;
const MEMBER = '/operator/v1/teams/{teamId}/members/{accountId}/metadata' as const;

const PATCH =
  'Each part is changed as a JSON merge patch (RFC 7396): members that are null are removed, others are added or replaced, and objects are merged. A part has at most 8,192 bytes of JSON.';

const READ = { returns: 'Both parts with their version.', isVersioned: true } as const;
const UPDATE = { ...READ, description: PATCH, effect: 'none', isMergePatch: true } as const;

const exampleOf = (shown: object, hidden: object) => ({ answer: { public: shown, private: hidden, version: 3 } });
const account = exampleOf({ theme: 'dark' }, { crmId: 'C-4711' });
const team = exampleOf({ region: 'eu' }, { accountManager: 'Ida' });
const member = exampleOf({ title: 'Editor' }, { costCenter: 12 });

/** The data of the operator's product about accounts, teams and memberships. */
export const createOperatorMetadataRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    getAccountMetadata: operatorProcedure('accounts:read')
      .meta(
        endpoint('getAccountMetadata', `GET ${ACCOUNT}`, {
          ...READ,
          summary: 'Read the metadata of an account',
          errors: ['account_not_found'],
          example: account,
        }),
      )
      .input(accountMetadataInput)
      .output(metadataOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const accountId = await toAccountId(db, input.accountId);
        const found = await readAccountMetadata(db, accountId);
        await recordView(ctx, { accountId });
        return found;
      }),

    updateAccountMetadata: operatorProcedure('accounts:write')
      .meta(
        endpoint('updateAccountMetadata', `PATCH ${ACCOUNT}`, {
          ...UPDATE,
          summary: 'Change the metadata of an account',
          errors: ['account_not_found', 'version_mismatch'],
          example: { body: { public: { theme: 'dark', beta: null } }, ...account },
        }),
      )
      .input(updateAccountMetadataInput)
      .output(metadataOutput)
      .mutation(({ ctx, input: { accountId, ...patch } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, accountId);
          await updateAccountMetadata(db, caller, id, patch);
          return readAccountMetadata(db, id);
        }),
      ),

    getTeamMetadata: operatorProcedure('teams:read')
      .meta(
        endpoint('getTeamMetadata', `GET ${TEAM}`, {
          ...READ,
          summary: 'Read the metadata of a team',
          errors: ['team_not_found'],
          example: team,
        }),
      )
      .input(teamMetadataInput)
      .output(metadataOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const teamId = await toTeamId(db, input.teamId);
        const found = await readTeamMetadata(db, teamId);
        await recordView(ctx, { teamId });
        return found;
      }),

    updateTeamMetadata: operatorProcedure('teams:write')
      .meta(
        endpoint('updateTeamMetadata', `PATCH ${TEAM}`, {
          ...UPDATE,
          summary: 'Change the metadata of a team',
          errors: ['team_not_found', 'version_mismatch'],
          example: { body: { public: { region: 'eu' } }, ...team },
        }),
      )
      .input(updateTeamMetadataInput)
      .output(metadataOutput)
      .mutation(({ ctx, input: { teamId, ...patch } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toTeamId(db, teamId);
          await updateTeamMetadata(db, caller, id, patch);
          return readTeamMetadata(db, id);
        }),
      ),

    getMemberMetadata: operatorProcedure('teams:read')
      .meta(
        endpoint('getMemberMetadata', `GET ${MEMBER}`, {
          ...READ,
          summary: 'Read the metadata of a membership',
          errors: ['team_not_found', 'account_not_found', 'member_not_found'],
          example: member,
        }),
      )
      .input(memberMetadataInput)
      .output(metadataOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const [teamId, accountId] = [await toTeamId(db, input.teamId), await toAccountId(db, input.accountId)];
        await readTeam(db, teamId);
        const found = await readMemberMetadata(db, teamId, accountId);
        await recordView(ctx, { teamId });
        return found;
      }),

    updateMemberMetadata: operatorProcedure('teams:write')
      .meta(
        endpoint('updateMemberMetadata', `PATCH ${MEMBER}`, {
          ...UPDATE,
          summary: 'Change the metadata of a membership',
          errors: ['team_not_found', 'account_not_found', 'member_not_found', 'version_mismatch'],
          example: { body: { private: { costCenter: 12 } }, ...member },
        }),
      )
      .input(updateMemberMetadataInput)
      .output(metadataOutput)
      .mutation(({ ctx, input: { teamId: givenTeam, accountId: givenAccount, ...patch } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const [teamId, accountId] = [await toTeamId(db, givenTeam), await toAccountId(db, givenAccount)];
          await updateMemberMetadata(db, caller, teamId, accountId, patch);
          return readMemberMetadata(db, teamId, accountId);
        }),
      ),
  });
