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
  changed: z.array(z.string()).meta({ description: 'The names of the changed fields.', example: ['description'] }),
  list: z.string().meta({ description: 'The list that was exported as a whole.', example: 'accounts' }),
  filter: z
    .array(z.string())
    .meta({ description: 'The names of what the list was searched or filtered by.', example: ['email'] }),
  found: z.array(id).meta({ description: 'The ids that a search returned.' }),
  roleId: id.meta({ description: 'The id of the role.', example: 'member' }),
  replacementId: id.meta({ description: 'The id of the role that replaces a deleted one.', example: 'member' }),
  planId: id.meta({ description: 'The id of the plan.', example: 'pro' }),
  makerId: id.meta({ description: 'The id of the account that created the key.' }),
  isActive: z.boolean().meta({ description: 'Whether the membership is active.', example: true }),
  expiresAt: z.string().nullable().meta({ format: 'date-time', description: 'When it expires or expired.' }),
  method: z.string().meta({ description: 'How the account signed in.', example: 'password' }),
  number: z.int().meta({ description: 'How many resources were affected.', example: 3 }),
  emailKind: z.string().meta({ description: 'The kind of the email that was not sent.', example: 'verify_email' }),
  reason: z.string().meta({ description: 'Why it happened, if not by a request for exactly this.' }),
  operation: z.string().meta({ description: 'The id of the operation that was called.', example: 'getAccount' }),
  since: z.string().meta({ format: 'date-time', description: 'The time of the first of several equal calls.' }),
  until: z.string().meta({ format: 'date-time', description: 'The time of the last of several equal calls.' }),
} as const;

export type DetailName = keyof typeof DETAILS;
