import { z } from 'zod';
import { DAYS_MAX } from '../../config/values.ts';
import { OPENID_SCOPES, SCOPES } from '../../entities/index.ts';
import {
  productPermissionName,
  productPermissionNames,
  resourceId,
  scopeName,
  timestamp,
} from '../../procedures/fields.ts';
import { clientName, OVERLAP_HOURS_MAX, REDIRECT_URIS_MAX } from './oauth-clients.schema.ts';

const redirectUris = z.array(z.string()).min(1).max(REDIRECT_URIS_MAX).meta({
  description:
    'Where codes are sent. They use `https`; native clients also loopback addresses and private-use schemes, and clients for development `http://localhost`.',
});
const scopes = z.array(scopeName).min(1).max(SCOPES.length);
const homeUrl = z.string().nullable().meta({
  description:
    'The start page of the application. Users of emailed links that it led to, and of its invitations, go on there without an `initiateLoginUri`.',
});
const initiateLoginUri = z.string().nullable().meta({
  description:
    'The page of the application that begins a sign-in (OpenID Connect Core, section 4). Users of emailed links that it led to, and of its invitations, go on there, if it is first-party.',
});

const postLogoutRedirectUris = z.array(z.string()).max(REDIRECT_URIS_MAX).meta({
  description: 'Where a browser can be sent after it was signed out. The rules are those of `redirectUris`.',
});
const backchannelLogoutUri = z.string().nullable().meta({
  description: 'Where a first-party client is told that a session ended, by logout tokens. Null for nowhere.',
});
const openidScopes = z.array(z.enum(OPENID_SCOPES)).max(OPENID_SCOPES.length).nullable().meta({
  description:
    'The scopes of OpenID Connect that users can consent to, `openid` among them. Null for none. First-party clients have all.',
});
const sessionDays = z.int().min(1).max(DAYS_MAX).nullable().meta({
  description:
    'How many days a session lasts, from its sign-in, if a user signed in for this first-party client, where that is longer than `SESSION_DAYS`. Null for `SESSION_DAYS`.',
  example: 90,
});
const hasTokenLimit = z.boolean().meta({
  description:
    'Whether its requests for tokens are limited: of clients with a secret by `OAUTH_CLIENT_LIMIT`, of others by `OAUTH_ADDRESS_LIMIT`. Only first-party clients with a secret can be without, and are unless it is set.',
});
const permissions = productPermissionNames.meta({
  description:
    'What it asks its users for of your product. Its grants and their keys lose at once what is taken away, and get more only with another consent. First-party clients have all that the role holds.',
});

export const operatorClientOutput = z
  .object({
    id: z.string().describe('The client id.'),
    name: z.string().describe('The name that users see.'),
    redirectUris: z.array(z.string()).describe('Where codes are sent.'),
    isNative: z.boolean().describe('Whether it runs on the devices of users.'),
    isConfidential: z.boolean().describe('Whether it has a secret.'),
    isFirstParty: z.boolean().describe('Whether it is an application of your own, whose users see no consent page.'),
    isDevelopment: z.boolean().describe('Whether it is for development.'),
    scopes: z
      .array(scopeName)
      .nullable()
      .meta({ description: 'What tokens of a first-party client can have. Null for others.' }),
    homeUrl,
    initiateLoginUri,
    openidScopes: z.array(z.string()).nullable().meta({
      description:
        'The scopes of OpenID Connect that users can consent to. Null for first-party clients, which have all.',
    }),
    postLogoutRedirectUris: z.array(z.string()).describe('Where a browser can be sent after it was signed out.'),
    backchannelLogoutUri: z.string().nullable().meta({ description: 'Where it is told that a session ended.' }),
    sessionDays: z
      .int()
      .nullable()
      .meta({ description: 'How many days a session lasts at least in which a user signed in for it.' }),
    hasTokenLimit,
    permissions: z.array(productPermissionName).describe('What it asks its users for of your product.'),
    createdAt: timestamp.describe('When it was created.'),
    secrets: z
      .array(
        z.object({
          last4: z.string().describe('The end of the secret.'),
          createdAt: timestamp.describe('When it was created.'),
          expiresAt: timestamp.nullable().describe('When it expires. Null if it does not.'),
        }),
      )
      .meta({ description: 'The valid secrets, the newest first.' }),
  })
  .meta({ id: 'OAuthClient', description: 'An OAuth client of the operator.' });

export const operatorClientsOutput = z
  .object({ clients: z.array(operatorClientOutput).meta({ description: 'The oldest first.' }) })
  .meta({ id: 'OAuthClients', description: 'OAuth clients of the operator.' });

export const createdOperatorClientOutput = z
  .object({
    client: operatorClientOutput,
    clientSecret: z.string().nullable().meta({ description: 'It is returned once. Null for public clients.' }),
  })
  .meta({ id: 'CreatedOAuthClient', description: 'An OAuth client with its secret.' });

export const createOperatorClientInput = z.object({
  name: clientName.meta({ description: 'The name that users see.' }),
  redirectUris,
  isConfidential: z.boolean().meta({ description: 'Whether it runs on a server and has a secret.' }),
  isNative: z.boolean().default(false).meta({ description: 'Whether it runs on the devices of users.' }),
  scopes: scopes.optional().meta({
    description:
      'Makes it first-party: all that its tokens can ever have. Without it, users choose on the consent page.',
  }),
  isDevelopment: z
    .boolean()
    .default(false)
    .meta({ description: 'Lets it redirect to `http://localhost`. Its users confirm each authorization.' }),
  homeUrl: homeUrl.optional(),
  initiateLoginUri: initiateLoginUri.optional(),
  postLogoutRedirectUris: postLogoutRedirectUris.optional(),
  backchannelLogoutUri: backchannelLogoutUri.optional(),
  openidScopes: openidScopes.optional(),
  sessionDays: sessionDays.optional(),
  hasTokenLimit: hasTokenLimit.optional(),
  permissions: permissions.optional(),
});

const clientId = resourceId.meta({
  description: 'The id of an OAuth client.',
  example: 'client_0cn7u8m1e4gqf97b0tsl6kd2pj',
});

export const operatorClientInput = z.object({ clientId });

export const updateOperatorClientInput = z.object({
  clientId,
  name: clientName.optional().meta({ description: 'The name that users see.' }),
  redirectUris: redirectUris.optional(),
  scopes: scopes
    .optional()
    .meta({ description: 'Of a first-party client. Removed ones end at once in all its tokens.' }),
  homeUrl: homeUrl.optional(),
  initiateLoginUri: initiateLoginUri.optional(),
  postLogoutRedirectUris: postLogoutRedirectUris.optional(),
  backchannelLogoutUri: backchannelLogoutUri.optional(),
  openidScopes: openidScopes.optional(),
  sessionDays: sessionDays.optional(),
  hasTokenLimit: hasTokenLimit.optional(),
  permissions: permissions.optional(),
});

export const rotateOperatorClientInput = z.object({
  clientId,
  overlapHours: z
    .int()
    .min(0)
    .max(OVERLAP_HOURS_MAX)
    .default(24)
    .meta({ description: 'How long the present secret stays valid.' }),
});
