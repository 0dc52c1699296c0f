import { z } from 'zod';
import { OPENID_SCOPES, RESOURCES, SCOPES } from '../../entities/index.ts';
import { resourceId, scopeName, timestamp } from '../../procedures/fields.ts';

export const grantOutput = z.object({
  id: z.string(),
  client: z.object({ id: z.string(), name: z.string() }),
  audience: z.enum(['personal', 'team']),
  resource: z.enum(RESOURCES),
  team: z.object({ id: z.string(), name: z.string() }).nullable(),
  /** The enforced scopes. */
  scopes: z.array(scopeName),
  /** What the application learns about the user. */
  openidScopes: z.array(z.enum(OPENID_SCOPES)),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
  expiresAt: timestamp,
});

export const narrowInput = z.object({ grantId: resourceId, scopes: z.array(scopeName).min(1).max(SCOPES.length) });
export const revokeInput = z.object({ grantId: resourceId });
