import { z } from 'zod';
import { CLIENT_SOURCES } from '../../entities/index.ts';
import { resourceId, scopeName, text, timestamp } from '../../procedures/fields.ts';

export const authorizationInput = z.object({ id: text(1, 255) });

export const approveInput = z.object({
  id: text(1, 255),
  /** The account that the page showed as signed in. */
  accountId: resourceId,
  /** The only team to give access to; null for the whole account. */
  teamId: resourceId.nullable(),
  scopes: z.array(scopeName).max(100),
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
  scopes: z.array(scopeName),
  /** The scopes that are selected initially. */
  preselectedScopes: z.array(scopeName),
  /** Validity of the access in days, unless it is revoked. */
  accessDays: z.int(),
  teams: z.array(z.object({ id: z.string(), name: z.string(), roleName: z.string() })),
});

/** The URL on this origin at which the browser continues. */
export const decisionOutput = z.object({ redirectTo: z.url() });
