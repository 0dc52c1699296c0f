import { z } from 'zod';
import { SCOPES } from '../../entities/index.ts';
import { resourceId, text, timestamp } from '../../procedures/fields.ts';

const scope = z.enum(SCOPES).meta({ id: 'Scope', description: 'What a credential can do.' });
const scopes = z.array(scope).min(1).max(10);

export const listApiKeysQuery = { teamId: resourceId.optional() };

export const createApiKeyBody = {
  name: text(1, 100),
  scopes,
  teamId: resourceId
    .optional()
    .meta({ description: 'Limits the key to this team, in which the caller needs `manage_api_keys`.' }),
  expiresInDays: z.int().min(1).max(365).optional().meta({ description: 'Without it, the key does not expire.' }),
};

export const updateApiKeyInput = { keyId: resourceId, scopes };

export const apiKeyOutput = z
  .object({
    id: z.string(),
    name: z.string(),
    keyPrefix: z.string(),
    last4: z.string(),
    scopes: z.array(scope),
    teamId: z.string().nullable().meta({ description: 'Null for a personal key.' }),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable().meta({ description: 'To the minute.' }),
    expiresAt: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' });

export const createdApiKeyOutput = z
  .object({ key: apiKeyOutput, secret: z.string().meta({ description: 'Shown only once; it cannot be recovered.' }) })
  .meta({ id: 'CreatedApiKey', description: 'A new API key and its secret.' });

export const OVERLAP_HOURS_MAX = 168;

export const rotateKeyInput = z.object({ keyId: resourceId, overlapHours: z.int().min(0).max(OVERLAP_HOURS_MAX) });
export const revokeInTeamInput = z.object({ teamId: resourceId, keyId: resourceId });

/** An API key on the pages of the console. */
export const listedKeyOutput = apiKeyOutput.extend({
  /** Expiry of the previous secret after a rotation. */
  previousSecretUntil: timestamp.nullable(),
  madeBy: z.object({
    userId: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
  }),
  /** Whether the caller created it. Only its creator can change its scopes and secret. */
  isOwn: z.boolean(),
});

type KeyFields = {
  id: string;
  name: string;
  keyPrefix: string;
  last4: string;
  scopes: (typeof SCOPES)[number][];
  team?: { id: string } | null | undefined;
  createdAt: Date;
  lastUsedAt?: Date | null | undefined;
  expiresAt?: Date | null | undefined;
};

export const presentApiKey = (key: KeyFields) => ({
  id: key.id,
  name: key.name,
  keyPrefix: key.keyPrefix,
  last4: key.last4,
  scopes: key.scopes,
  teamId: key.team?.id ?? null,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
});
