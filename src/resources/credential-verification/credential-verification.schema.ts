import { z } from 'zod';
import { RESOURCES } from '../../entities/index.ts';
import { openEnum } from '../../open-enum.ts';
import { teamReference } from '../operator/references.ts';
import { anyPermissionName, heldPermissionName, scopeName, text, timestamp } from '../../procedures/fields.ts';

const kind = z.enum(['api-key', 'oauth-grant', 'session']);
export const DEFAULT_KINDS: z.infer<typeof kind>[] = ['api-key', 'oauth-grant'];
const SECRET_LENGTH_MAX = 500;

export const INCLUDES = ['public_metadata', 'private_metadata'] as const;

const part = z.record(z.string(), z.unknown()).optional();
const metadataParts = z.object({
  public: part.meta({ description: 'What its readers see, if it was asked for.' }),
  private: part.meta({ description: 'What only you see, if it was asked for.' }),
});

export const verifyInput = z.object({
  credential: text(1, SECRET_LENGTH_MAX).meta({
    description: 'The bearer credential that your API received: an API key, an access token or the token of a session.',
  }),
  kinds: z
    .array(kind)
    .min(1)
    .max(3)
    .default(DEFAULT_KINDS)
    .meta({ description: 'The kinds that you accept. Name `session` to accept session tokens.' }),
  resource: z
    .enum(RESOURCES)
    .optional()
    .meta({ description: 'What access tokens have to be issued for. Without it, both are accepted.' }),
  teamId: teamReference.optional().meta({
    description:
      'The team that the request is about: its id, or `ext:` and its external id. Without it, that of a team credential.',
  }),
  scopes: z.array(scopeName).max(10).default([]).meta({ description: 'The scopes that the request needs.' }),
  permission: anyPermissionName.optional().meta({ description: 'The permission in the team that the request needs.' }),
  permissions: z
    .array(anyPermissionName)
    .max(50)
    .default([])
    .meta({ description: 'The permissions in the team that the request needs, all of them.' }),
  charge: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the request counts against the rate limit of the credential.' }),
  include: z.array(z.enum(INCLUDES)).max(INCLUDES.length).default([]).meta({
    description:
      'What the answer has besides. `private_metadata` needs the scopes `accounts:read` and `teams:read` of your key.',
  }),
});

/** Why a credential is not sufficient. */
export const VERIFY_CODES = [
  'credential_invalid',
  'rate_limited',
  'scope_missing',
  'team_not_found',
  'permission_missing',
] as const;

export const verifyOutput = z
  .object({
    valid: z.boolean().meta({ description: 'Whether the credential is valid and has all that the request needs.' }),
    code: openEnum(VERIFY_CODES).nullable().meta({
      description:
        'Why not, as the API answers: for `credential_invalid` everything else is null, whether it is unknown, revoked, expired or disabled. More can be added.',
    }),
    credential: z
      .object({
        id: z.string().meta({ description: 'The id of the API key, grant or session.' }),
        kind: kind.describe('An API key, an access token of OAuth, or a session.'),
        audience: z.enum(['personal', 'team']).meta({ description: 'The whole account, or one team.' }),
        teamId: z.string().nullable().meta({ description: 'The team of the audience.' }),
        scopes: z.array(scopeName).meta({ description: 'The enforced scopes.' }),
        expiresAt: timestamp.nullable().describe('When it expires. Null if it does not.'),
        grantId: z.string().nullable().meta({ description: 'The OAuth grant behind it.' }),
        clientId: z.string().nullable().meta({ description: 'The OAuth client of the grant.' }),
        resource: z.enum(RESOURCES).nullable().meta({ description: 'What an access token was issued for.' }),
        thumbprint: z
          .string()
          .nullable()
          .meta({ description: 'Of the key that an access token is bound to (RFC 9449): require a proof of it.' }),
      })
      .nullable()
      .describe('The credential.'),
    account: z
      .object({
        id: z.string().describe('The id of the account.'),
        email: z.string().describe('The email address.'),
        firstName: z.string().nullable().describe('The first name.'),
        lastName: z.string().nullable().describe('The last name.'),
        externalId: z.string().nullable().meta({ description: 'The id that you gave it.' }),
      })
      .nullable()
      .describe('The account behind it.'),
    team: z
      .object({
        id: z.string().describe('The id of the team.'),
        name: z.string().describe('The name of the team.'),
        slug: z.string().describe('Derived from the name at creation.'),
      })
      .nullable()
      .meta({ description: 'The team of the request, if the account is an active member.' }),
    role: z
      .object({ id: z.string().describe('The id of the role.'), name: z.string().describe('The name of the role.') })
      .nullable()
      .describe('The role in that team.'),
    permissions: z.array(heldPermissionName).meta({
      description:
        'What the role permits in the team: permissions of Roster, and those of your product that the credential can have.',
    }),
    missing: z
      .array(heldPermissionName)
      .optional()
      .meta({ description: 'Those of the asked permissions that are not among them, if any were asked for.' }),
    rate: z
      .object({
        limit: z.int().describe('Requests allowed in one window.'),
        remaining: z.int().describe('Requests left in the window.'),
        resetSeconds: z.int().describe('Seconds until the window resets.'),
      })
      .nullable()
      .meta({ description: 'The rate limit of the credential after the charge. Null without `charge`.' }),
    metadata: z
      .object({
        account: metadataParts.describe('Of the account.'),
        team: metadataParts.nullable().describe('Of the team.'),
        membership: metadataParts.nullable().describe('Of the membership.'),
      })
      .optional()
      .meta({ description: 'The parts that `include` names, of a credential that is valid.' }),
  })
  .meta({ id: 'Verification', description: 'Who a credential belongs to, and what it permits.' });

export type VerifyInput = z.infer<typeof verifyInput>;
export type Verification = z.infer<typeof verifyOutput>;
