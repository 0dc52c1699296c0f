import { accountProcedure, teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { readOwnMetadata, readPublicMembersMetadata, readPublicTeamMetadata } from './metadata.queries.ts';
import {
  membersMetadataInput,
  membersPublicMetadataOutput,
  publicMetadataOutput,
  teamPublicMetadataOutput,
} from './metadata.schema.ts';

/** The public parts of metadata, for those whom they are about, which REST does not have. */
export const metadataConsoleRouter = router({
  /** Of the caller's account. Nobody else reads it, because other teams of the account would see it too. */
  own: accountProcedure('profile:read')
    .output(publicMetadataOutput)
    .query(({ ctx: { services, principal } }) => readOwnMetadata(services.db, principal.accountId)),

  /** Of the team and of the caller's membership, for every member. */
  team: teamProcedure({ scope: 'teams:read' })
    .output(teamPublicMetadataOutput)
    .query(({ ctx: { services, membership } }) => readPublicTeamMetadata(services.db, membership.id)),

  /** Of other memberships, for those who see the members. */
  members: teamProcedure({ scope: 'members:read', permission: 'access_dashboard', input: membersMetadataInput })
    .output(membersPublicMetadataOutput)
    .query(({ ctx: { services }, input }) => readPublicMembersMetadata(services.db, input.teamId, input.accountIds)),
});
