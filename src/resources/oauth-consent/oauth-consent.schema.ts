import { z } from 'zod';
import { SCOPES } from '../../entities/index.ts';
import { resourceId, text } from '../../procedures/fields.ts';

const scope = z.enum(SCOPES);

export const authorizationInput = z.object({ id: text(1, 255) });

export const approveInput = z.object({
  id: text(1, 255),
  /** Whom the page showed as signed in. */
  accountId: resourceId,
  /** The one team that the grant is for; null for the whole account. */
  teamId: resourceId.nullable(),
  scopes: z.array(scope).max(100),
});

export const authorizationOutput = z.object({
  id: z.string(),
  client: z.object({
    id: z.string(),
    name: z.string(),
    /** Where the browser goes with the answer: a host, or an application on this device. */
    redirectHost: z.string(),
    /** Whether the operator made the client. */
    isVerified: z.boolean(),
  }),
  account: z.object({ id: z.string(), email: z.string() }),
  scopes: z.array(scope),
  teams: z.array(z.object({ id: z.string(), name: z.string(), roleName: z.string() })),
});

/** Where the browser goes on, on this origin. */
export const decisionOutput = z.object({ redirectTo: z.url() });
