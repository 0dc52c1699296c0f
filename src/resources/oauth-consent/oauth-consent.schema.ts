import { z } from 'zod';
import { CLIENT_SOURCES, OPENID_SCOPES } from '../../entities/index.ts';
import { productPermissionNames, resourceId, scopeName, text, timestamp } from '../../procedures/fields.ts';

export const authorizationInput = z.object({ id: text(1, 255) });

export const approveInput = z.object({
  id: text(1, 255),
  /** The account that the page showed as signed in. */
  accountId: resourceId,
  /** The only team to give access to; null for the whole account. */
  teamId: resourceId.nullable(),
  scopes: z.array(scopeName).max(100),
  /** The permissions of the product that the page showed. Those for which the client asks only now are not given. */
  permissions: productPermissionNames.optional(),
});

export const continueInput = z.object({
  id: text(1, 255),
  /** The account that the page showed as signed in. */
  accountId: resourceId,
  /** The team that the user chose, of a request that asks for that. */
  teamId: resourceId.optional(),
});

export const authorizationOutput = z.object({
  id: z.string(),
  client: z.object({
    id: z.string(),
    name: z.string(),
    /** The host that gets the answer; for a native application the private-use scheme. */
    redirectHost: z.string(),
    /** Whether the operator created the client. */
    isVerified: z.boolean(),
    /** How the client was created. */
    source: z.enum(CLIENT_SOURCES),
    /** The name of the account that registered it, or the host of its metadata document; null if unknown. */
    madeBy: z.string().nullable(),
    /** When it was registered, or its document was first used. */
    createdAt: timestamp,
  }),
  account: z.object({ id: z.string(), email: z.string() }),
  /**
   * What the page asks the users of a first-party client: nothing (`continue` is called at once), to confirm the account,
   * to choose it, to prove who they are, or to choose a team. Null for other clients, which need a consent.
   */
  firstParty: z.enum(['nothing', 'confirmation', 'account', 'proof', 'team']).nullable(),
  scopes: z.array(scopeName),
  /** What the application learns about the user; with none of the scopes, it asks only for that. */
  openidScopes: z.array(z.enum(OPENID_SCOPES)),
  /** The scopes that are selected initially. */
  preselectedScopes: z.array(scopeName),
  /** What it may do in the operator’s product, as far as the user’s role does. Chosen by the operator. */
  permissions: z.array(
    z.object({
      name: z.string(),
      title: z.record(z.string(), z.string()),
      description: z.record(z.string(), z.string()).nullable(),
    }),
  ),
  /** Validity of the access in days, unless it is revoked. */
  accessDays: z.int(),
  teams: z.array(z.object({ id: z.string(), name: z.string(), roleName: z.string() })),
});

/** The URL on this origin at which the browser continues. */
export const decisionOutput = z.object({ redirectTo: z.url() });
