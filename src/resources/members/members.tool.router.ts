import { z } from 'zod';
import type { Principal } from '../../auth/principal.ts';
import type { Permission } from '../../entities/index.ts';
import { resourceId } from '../../procedures/fields.ts';
import { accountIdOf, memberId } from './member-id.ts';
import { plannedChange, toDisplayName } from '../../procedures/planned-change.ts';
import { teamProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { KEYS_OF_PAGE, planRemoval } from './removal.queries.ts';

const access = { scope: 'members:write', permission: 'remove_members' } as const;

/** How many keys the description of a removal names. */
const NAMED_KEYS = 10;

const offset = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .default(0)
  .meta({
    description: 'How many API keys to skip. Use `nextOffset` of the last page.',
  });

const revokedKey = z.object({
  id: z.string().meta({ description: 'Its id.' }),
  name: z.string().meta({ description: 'Text of a user.' }),
  last4: z.string().meta({ description: 'The last characters of its secret.' }),
});

const removalPage = z.object({
  apiKeys: z.array(revokedKey).meta({
    description: `At most ${KEYS_OF_PAGE} of the API keys that would be revoked, the oldest first.`,
  }),
  apiKeyCount: z.int().meta({ description: 'How many API keys would be revoked.' }),
  nextOffset: z.int().nullable().meta({ description: 'The `offset` of the next API keys, or null.' }),
  oauthGrants: z.int().meta({ description: 'How many applications would lose access to the team.' }),
  ownershipOffer: z.boolean().meta({ description: 'Whether an offer of ownership would be withdrawn.' }),
});

/** Describes removals of members for tools, whose answers are bounded. */
export const membersToolRouter = router({
  previewRemoval: teamProcedure({ ...access, input: { ...memberId, offset } })
    .output(removalPage)
    .query(async ({ ctx, input }) => {
      const { apiKeys, apiKeyCount, oauthGrants, ownershipOffer } = await planRemoval(ctx.services.db, {
        teamId: input.teamId,
        accountId: accountIdOf(input),
        offset: input.offset,
      });
      const end = input.offset + apiKeys.length;
      return { apiKeys, apiKeyCount, nextOffset: end < apiKeyCount ? end : null, oauthGrants, ownershipOffer };
    }),

  /** With the access and the input of the operation. */
  removeTeamMember: teamProcedure({ ...access, input: { userId: resourceId } })
    .output(plannedChange)
    .query(async ({ ctx: { services, membership, principal }, input }) => {
      const plan = await planRemoval(services.db, { teamId: input.teamId, accountId: input.userId, offset: 0 });
      const { apiKeyCount, oauthGrants, ownershipOffer } = plan;
      return {
        kind: 'member' as const,
        id: input.userId,
        name: canListMembers(principal, membership.permissions) ? toDisplayName(plan) : null,
        team: { id: membership.team.id, name: membership.team.name },
        before: {
          roleId: plan.roleId,
          roleName: plan.roleName,
          isActive: plan.isActive,
          apiKeys: plan.apiKeys.slice(0, NAMED_KEYS),
        },
        after: null,
        effects: [
          `API keys that stop working: ${apiKeyCount}.`,
          ...(apiKeyCount > NAMED_KEYS ? ['previewMemberRemoval lists all of them.'] : []),
          `Applications that lose access to the team: ${oauthGrants}.`,
          ...(plan.endingInvitations > 0
            ? [`Invitations of the member to privileged roles that end: ${plan.endingInvitations}.`]
            : []),
          ...(plan.otherInvitations > 0
            ? [`Other invitations of the member that stay valid: ${plan.otherInvitations}.`]
            : []),
          ...(ownershipOffer ? ['The offer of ownership to the member is withdrawn.'] : []),
        ],
      };
    }),
});

const canListMembers = ({ scopes }: Principal, held: readonly Permission[]): boolean =>
  scopes.includes('members:read') && held.includes('access_dashboard');
