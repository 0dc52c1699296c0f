import { z } from 'zod';
import { OPERATOR_SCOPES, PERMISSIONS, SCOPES } from '../entities/index.ts';

const id = z.string();

/**
 * What an event can say about itself, besides ids. It is never erased, so it contains no email addresses, and only names
 * of a team’s roles and API keys, and hosts of webhook endpoints, which are no person’s data.
 */
export const DETAILS = {
  name: z.string().meta({
    description: 'The name that the role or API key then had; of a webhook endpoint, its host.',
    example: 'Editor',
  }),
  scopes: z.array(z.enum(SCOPES)).meta({ description: 'The scopes from then on.', example: ['teams:read'] }),
  operatorScopes: z
    .array(z.enum(OPERATOR_SCOPES))
    .meta({ description: 'The scopes of the operator key.', example: ['teams:read'] }),
  permissions: z
    .array(z.enum(PERMISSIONS))
    .meta({ description: 'The permissions of the role.', example: ['invite_members'] }),
  productPermissions: z
    .array(z.string())
    .meta({ description: 'The permissions of your product, from then on.', example: ['invoices:write'] }),
  productPermissionsBefore: z
    .array(z.string())
    .meta({ description: 'The permissions of your product until then, if they changed.', example: ['invoices:read'] }),
  catalogueVersion: z.int().meta({ description: 'The version of the catalogue of permissions.', example: 3 }),
  added: z.array(z.string()).meta({ description: 'The names of new permissions.', example: ['invoices:write'] }),
  removed: z
    .array(z.string())
    .meta({ description: 'The names of permissions that no longer exist.', example: ['invoices:edit'] }),
  redeclared: z
    .array(z.string())
    .meta({ description: 'The names of permissions that are declared differently.', example: ['invoices:read'] }),
  changed: z.array(z.string()).meta({ description: 'The names of the changed fields.', example: ['description'] }),
  redirectUrisBefore: z.array(z.string()).meta({
    description: 'The redirect URIs that the OAuth client had. Long ones are cut.',
    example: ['https://old.example/callback'],
  }),
  redirectUris: z.array(z.string()).meta({
    description: 'The redirect URIs from then on. Long ones are cut.',
    example: ['https://calendar.example/callback'],
  }),
  list: z.string().meta({ description: 'The list that was exported as a whole.', example: 'accounts' }),
  filter: z
    .array(z.string())
    .meta({ description: 'The names of what the list was searched or filtered by.', example: ['email'] }),
  found: z.array(id).meta({ description: 'The ids that a search returned.' }),
  roleId: id.meta({ description: 'The id of the role.', example: 'member' }),
  replacementId: id.meta({ description: 'The id of the role that replaces a deleted one.', example: 'member' }),
  memberTeamId: id.meta({
    description: 'The id of the team of the membership.',
  }),
  memberAccountId: id.meta({
    description: 'The id of the account of the membership.',
  }),
  formerOwnerId: id.meta({
    description: 'The id of the account that owned the team before. Left out if it had no owner.',
  }),
  formerOwnerRoleId: id.meta({
    description: 'The id of the role that the former owner has from then on.',
    example: 'member',
  }),
  planId: id.meta({ description: 'The id of the plan.', example: 'pro' }),
  makerId: id.meta({ description: 'The id of the account that created the key.' }),
  isActive: z.boolean().meta({ description: 'Whether the membership is active.', example: true }),
  expiresAt: z.string().nullable().meta({ format: 'date-time', description: 'When it expires or expired.' }),
  method: z.string().meta({ description: 'How the account signed in.', example: 'password' }),
  methods: z.array(z.string()).meta({
    description:
      'What the session proves: `password`, `link` and `passkey`. More can be added. Left out of a sign-up whose email address is not verified yet.',
    example: ['password'],
  }),
  number: z.int().meta({ description: 'How many resources were affected.', example: 3 }),
  isSilent: z.boolean().meta({
    description:
      'Whether accounts and teams that the import created have no events, so that copies need them from a list.',
    example: false,
  }),
  emailKind: z.string().meta({ description: 'The kind of the email that was not sent.', example: 'verify_email' }),
  reason: z.string().meta({ description: 'Why it happened, if not by a request for exactly this.' }),
  operation: z.string().meta({ description: 'The id of the operation that was called.', example: 'getAccount' }),
  since: z.string().meta({ format: 'date-time', description: 'The time of the first of several equal calls.' }),
  until: z.string().meta({ format: 'date-time', description: 'The time of the last of several equal calls.' }),
} as const;

export type DetailName = keyof typeof DETAILS;
