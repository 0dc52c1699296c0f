import { z } from 'zod';
import { isActiveNow } from '../../auth/active-membership.ts';
import type { Membership } from '../../entities/index.ts';
import { instantSince1970, resourceId, timestamp } from '../../procedures/fields.ts';
import { accountIds } from './member-id.ts';

export const memberOutput = z
  .object({
    membershipId: z.string().meta({ description: 'The id of the membership.' }),
    userId: z.string().meta({ description: 'The id of the account.' }),
    email: z.string().nullable().meta({ description: 'The email address.' }),
    firstName: z.string().nullable().meta({ description: 'The first name.' }),
    lastName: z.string().nullable().meta({ description: 'The last name.' }),
    avatar: z.string().nullable().meta({ description: 'The URL of a picture.' }),
    roleId: z.string().meta({ description: 'The id of the role in the team.' }),
    roleName: z.string().nullable().meta({ description: 'The name of the role.' }),
    isSystemRole: z.boolean().meta({ description: 'Whether it is one of the roles that every team has.' }),
    isActive: z.boolean().meta({ description: 'False for inactive and expired memberships.' }),
    joinedAt: timestamp.nullable().meta({ description: 'When the account joined the team.' }),
  })
  .meta({ id: 'Member', description: 'A membership of a team.' });

/** A member outside of `/api/v1`. */
export const consoleMemberOutput = z.object({ ...memberOutput.shape, ...accountIds });

/** A member with the expiry of the membership, for the console. */
export const memberWithTermsOutput = z.object({ ...consoleMemberOutput.shape, expiresAt: timestamp.nullable() });

/** Converts a membership whose account and role are loaded. */
export const presentMember = (membership: Membership) => {
  const { account, role } = membership;
  return {
    membershipId: membership.id,
    userId: account.id,
    email: account.email ?? null,
    firstName: account.firstName ?? null,
    lastName: account.lastName ?? null,
    avatar: account.avatar ?? null,
    roleId: role.id,
    roleName: role.name,
    isSystemRole: role.isSystemRole,
    isActive: isActiveNow(membership),
    joinedAt: membership.joinedAt?.toISOString() ?? null,
  };
};

/** Names the account of a member as all interfaces but `/api/v1` do. */
export const withAccountId = <M extends { readonly userId: string }>(member: M) => ({
  accountId: member.userId,
  ...member,
});

export const memberExpiry = instantSince1970.nullable();

/** The credentials that removing a member revokes. */
/** So few that the URL of the read stays short. */
const REMOVED_MAX = 30;

export const removedMembers = { accountIds: z.array(resourceId).min(1).max(REMOVED_MAX) };

export const removalPreviewOutput = z.object({
  apiKeys: z.array(z.object({ id: z.string(), name: z.string(), last4: z.string() })),
  /** Number of applications that lose access to the team. */
  oauthGrants: z.int(),
  ownershipOffer: z.boolean(),
  /** Pending ones that the member sent. Those to privileged roles end with the membership. */
  invitations: z.array(
    z.object({ id: z.string(), email: z.string().nullable(), roleName: z.string(), isEnding: z.boolean() }),
  ),
});

export const membersOfDayOutput = z.object({ day: z.iso.date(), members: z.int() });
