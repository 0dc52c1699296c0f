import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../crypto/password-hash.ts';
import { ACCOUNT_ROLES, SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import {
  emailAddress,
  instantSince1970,
  locale,
  personName,
  pictureUrl,
  readableName,
  text,
  timestamp,
} from '../../procedures/fields.ts';
import { ACCOUNT_ORDERS } from './account-list.queries.ts';
import { TEAM_ORDERS } from './team-list.queries.ts';
import { accountReference, externalId, teamReference } from './references.ts';
import { nextCursor, pageInput } from './paging.ts';

const prefix = (description: string, example: string) => text(1, 255).optional().meta({ description, example });
/** A field, or a field with `-` before it for the opposite direction. */
const sortBy = <Field extends string>(fields: readonly [Field, ...Field[]], description: string) =>
  z
    .enum(fields.flatMap((field) => [field, `-${field}` as const]))
    .optional()
    .meta({ description, example: `-${fields[0]}` });

const ownId = externalId.meta({ description: 'An id in a system of yours. Unique among accounts, or among teams.' });

export const listAccountsInput = z.object({
  email: prefix('The beginning of the email address, in any case.', 'ada@'),
  name: prefix('The beginning of the first and last name, in any case.', 'Ada L'),
  lastName: prefix('The beginning of the last name, in any case.', 'Lovel'),
  externalId: prefix('The beginning of the external id.', 'customer-'),
  disabled: z
    .boolean()
    .optional()
    .meta({ description: 'With `true`, lists the disabled accounts only.', example: true }),
  sort: sortBy(
    ACCOUNT_ORDERS,
    'The field that the list is sorted by; with `-` before it, in the opposite direction. Accounts without the field come last. A search has the order of its field, and `externalId` is for its search only.',
  ),
  ...pageInput,
});

export const accountInput = z.object({ accountId: accountReference });

export const createAccountInput = z.object({
  email: emailAddress.describe('The email address.'),
  externalId: ownId.optional(),
  firstName: personName.optional().describe('The first name.'),
  lastName: personName.optional().describe('The last name.'),
  avatar: pictureUrl.optional().describe('The https URL of a picture.'),
  preferredLocale: locale.optional().describe('A language tag (BCP 47).'),
  password: text(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max)
    .optional()
    .describe('The password, if you have it. Without one, the user signs in by an emailed link or sets one.'),
  isEmailVerified: z.boolean().default(false).meta({ description: 'Whether you know that the address is theirs.' }),
});

export const updateAccountInput = accountInput.extend({
  email: emailAddress.optional().meta({ description: 'Is not verified then, unless `isEmailVerified` is true.' }),
  isEmailVerified: z.boolean().optional().meta({ description: 'With `true`, marks the address as verified.' }),
  externalId: ownId.nullable().optional(),
  firstName: personName.nullable().optional().describe('The first name.'),
  lastName: personName.nullable().optional().describe('The last name.'),
  avatar: pictureUrl.nullable().optional().describe('The https URL of a picture.'),
  preferredLocale: locale.nullable().optional().describe('A language tag (BCP 47).'),
});

export const accountOutput = z
  .object({
    id: z.string().describe('The id of the account.'),
    externalId: z.string().nullable().describe('The id that you gave it.'),
    email: z.string().nullable().describe('The email address.'),
    firstName: z.string().nullable().describe('The first name.'),
    lastName: z.string().nullable().describe('The last name.'),
    avatar: z.string().nullable().describe('The URL of a picture.'),
    preferredLocale: z.string().nullable().describe('A language tag (BCP 47).'),
    role: z.enum(ACCOUNT_ROLES).meta({ description: 'An `admin` is an operator of this instance.' }),
    emailVerified: timestamp.nullable().describe('When the email address was verified. Null if it was not.'),
    disabledAt: timestamp.nullable().describe('Since when the account is disabled. Null if it is not.'),
    createdAt: timestamp.describe('When it was created.'),
    updatedAt: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'OperatorAccount', description: 'An account.' });

export const accountsOutput = z
  .object({ accounts: z.array(accountOutput).describe('The accounts of the page.'), nextCursor })
  .meta({ id: 'OperatorAccounts', description: 'A page of accounts.' });

export const endedSessionsOutput = z
  .object({ ended: z.int().meta({ description: 'How many sessions were open.' }) })
  .meta({ id: 'OperatorEndedSessions', description: 'The sessions are ended.' });

export const listTeamsInput = z.object({
  name: prefix('The beginning of the name, in any case.', 'Analytical'),
  slug: prefix('The beginning of the slug.', 'analytical'),
  externalId: prefix('The beginning of the external id.', 'customer-'),
  planId: text(1, 255).optional().meta({
    description:
      'The plan of the subscription, whatever its status. Teams without a subscription have the plan `free`.',
    example: 'pro',
  }),
  sort: sortBy(
    TEAM_ORDERS,
    'The field that the list is sorted by; with `-` before it, in the opposite direction. A search has the order of its field, and `externalId` is for its search only. The teams of a plan have the order of their creation.',
  ),
  ...pageInput,
});

export const teamInput = z.object({ teamId: teamReference });

const teamFields = {
  name: readableName(1, 100).describe('The name of the team.'),
  description: text(0, 1000).describe('A description of the team.'),
};

export const createTeamInput = z.object({
  name: teamFields.name,
  ownerId: accountReference.meta({ description: 'The account that owns the team.' }),
  description: teamFields.description.optional().describe('A description of the team.'),
  avatarUrl: pictureUrl.optional().describe('The https URL of a picture.'),
  externalId: ownId.optional(),
});

export const updateTeamInput = teamInput.extend({
  name: teamFields.name.optional().meta({ description: 'The slug does not change.' }),
  description: teamFields.description.nullable().optional().describe('A description of the team.'),
  avatarUrl: pictureUrl.nullable().optional().describe('The https URL of a picture.'),
  externalId: ownId.nullable().optional(),
});

export const transferTeamInput = teamInput.extend({ accountId: accountReference });

export const teamOutput = z
  .object({
    id: z.string().describe('The id of the team.'),
    externalId: z.string().nullable().describe('The id that you gave it.'),
    name: z.string().describe('The name of the team.'),
    slug: z.string().describe('Derived from the name at creation.'),
    description: z.string().nullable().describe('A description of the team.'),
    avatarUrl: z.string().nullable().describe('The URL of a picture.'),
    ownerId: z.string().nullable().describe('The account that owns the team.'),
    planId: z.string().describe('The plan of the subscription; `free` without one.'),
    createdAt: timestamp.describe('When it was created.'),
    updatedAt: timestamp.describe('When it was last changed.'),
  })
  .meta({ id: 'OperatorTeam', description: 'A team.' });

export const teamsOutput = z
  .object({ teams: z.array(teamOutput).describe('The teams of the page.'), nextCursor })
  .meta({ id: 'OperatorTeams', description: 'A page of teams.' });

export const listMembersInput = teamInput.extend(pageInput);
export const memberInput = teamInput.extend({ accountId: accountReference });

const roleId = text(1, 255).meta({ description: '`member`, `guest` or the id of a role of the team.' });
const expiry = instantSince1970.meta({ description: 'When the membership ends.' });

export const addMemberInput = memberInput.extend({
  roleId: roleId.default('member'),
  isActive: z.boolean().default(true).describe('Whether the membership gives access.'),
  expiresAt: expiry.optional(),
});

export const updateMemberInput = memberInput.extend({
  roleId: roleId.optional(),
  isActive: z.boolean().optional().describe('Whether the membership gives access.'),
  expiresAt: expiry.nullable().optional(),
});

export const memberOutput = z
  .object({
    membershipId: z.string().describe('The id of the membership.'),
    accountId: z.string().describe('The id of the account.'),
    externalId: z.string().nullable().meta({ description: 'The external id of the account.' }),
    email: z.string().nullable().describe('The email address.'),
    firstName: z.string().nullable().describe('The first name.'),
    lastName: z.string().nullable().describe('The last name.'),
    role: z
      .object({ id: z.string().describe('The id of the role.'), name: z.string().describe('The name of the role.') })
      .describe('The role in the team.'),
    isActive: z.boolean().meta({ description: 'False for inactive and expired memberships.' }),
    joinedAt: timestamp.nullable().describe('When the account joined the team.'),
    expiresAt: timestamp.nullable().describe('When the membership ends. Null if it does not.'),
  })
  .meta({ id: 'OperatorMember', description: 'A membership of a team.' });

export const membersOutput = z
  .object({ members: z.array(memberOutput).describe('The members of the page.'), nextCursor })
  .meta({ id: 'OperatorMembers', description: 'A page of members.' });

const UNITS_MAX = 1_000_000_000;

export const setSubscriptionInput = teamInput.extend({
  planId: text(1, 255).meta({ description: 'One of the configured plans.' }),
  status: z.enum(SUBSCRIPTION_STATUSES).nullable().optional().meta({
    description: 'The status, to display. It takes no seats away: `planId` and `addons` alone count.',
  }),
  interval: z.enum(SUBSCRIPTION_INTERVALS).nullable().optional().describe('The billing interval.'),
  addons: z
    .record(text(1, 64), z.int().min(0).max(UNITS_MAX))
    .optional()
    .meta({ description: 'Units of each add-on; `seats` adds to those of the plan.' }),
  planExpiresAt: instantSince1970.nullable().optional().meta({ description: 'The renewal date.' }),
  cancelAtPeriodEnd: z.boolean().optional().describe('Whether the subscription ends at `planExpiresAt`.'),
  needsPaymentAction: z.boolean().optional().describe('Whether the owner has to act for a payment to succeed.'),
  version: z.int().min(0).optional().meta({
    description: 'The version that you have read, the same as `If-Match`. With another one now, nothing changes.',
  }),
});

export const subscriptionOutput = z
  .object({
    planId: z.string().describe('The id of the plan.'),
    planName: z.string().describe('The name of the plan, to display.'),
    status: z.enum(SUBSCRIPTION_STATUSES).nullable().describe('The status of the subscription.'),
    interval: z.enum(SUBSCRIPTION_INTERVALS).nullable().describe('The billing interval.'),
    addons: z.record(z.string(), z.number()).describe('Units of each add-on.'),
    planExpiresAt: timestamp.nullable().describe('The renewal date. Null if there is none.'),
    cancelAtPeriodEnd: z.boolean().describe('Whether the subscription ends at `planExpiresAt`.'),
    needsPaymentAction: z.boolean().describe('Whether the owner has to act for a payment to succeed.'),
    version: z.int().meta({ description: 'Counts the changes. 0 for a team that never had a subscription.' }),
  })
  .meta({ id: 'OperatorSubscription', description: 'The subscription of a team.' });
