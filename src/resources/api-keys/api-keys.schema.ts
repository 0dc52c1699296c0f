import { z } from 'zod';
import type { SCOPES } from '../../entities/index.ts';
import {
  productPermissionName,
  productPermissionNames,
  readableName,
  resourceId,
  scopeName,
  text,
  timestamp,
} from '../../procedures/fields.ts';
import { accountIds } from '../members/member-id.ts';

const scopes = z.array(scopeName).min(1).max(10);

export const listApiKeysQuery = { teamId: resourceId.optional() };

export const createApiKeyBody = {
  name: text(1, 100).meta({ description: 'A name to recognize the key by.' }),
  scopes: scopes.meta({ description: 'Scopes that the calling credential has.' }),
  teamId: resourceId
    .optional()
    .meta({ description: 'Limits the key to this team, in which the caller needs `manage_api_keys`.' }),
  expiresInDays: z.int().min(1).max(365).optional().meta({ description: 'Without it, the key does not expire.' }),
};

export const updateApiKeyInput = {
  keyId: resourceId,
  scopes: scopes.meta({ description: 'All scopes of the key from now on.' }),
};

export const apiKeyOutput = z
  .object({
    id: z.string().meta({ description: 'The id of the key.' }),
    name: z.string().meta({ description: 'The name that was given at creation.' }),
    keyPrefix: z.string().meta({ description: 'The first characters of the secret, to recognize it.' }),
    last4: z.string().meta({ description: 'The last four characters of the secret.' }),
    scopes: z.array(scopeName).meta({ description: 'The scopes of the key.' }),
    teamId: z.string().nullable().meta({ description: 'Null for a personal key.' }),
    createdAt: timestamp.meta({ description: 'When the key was created.' }),
    lastUsedAt: timestamp
      .nullable()
      .meta({ description: 'The last request with the key, to the minute. Null if there was none.' }),
    expiresAt: timestamp.nullable().meta({ description: 'When the key expires. Null if it does not.' }),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' });

export const createdApiKeyOutput = z
  .object({ key: apiKeyOutput, secret: z.string().meta({ description: 'Shown only once; it cannot be recovered.' }) })
  .meta({ id: 'CreatedApiKey', description: 'A new API key and its secret.' });

export const OVERLAP_HOURS_MAX = 168;

export const rotateKeyInput = z.object({ keyId: resourceId, overlapHours: z.int().min(0).max(OVERLAP_HOURS_MAX) });
export const revokeInTeamInput = z.object({ teamId: resourceId, keyId: resourceId });

/** An API key with what it can have of the operator’s product, which REST neither shows nor takes. */
export const fullKeyOutput = apiKeyOutput.extend({ permissions: z.array(productPermissionName) });
export const createdFullKeyOutput = z.object({ key: fullKeyOutput, secret: z.string() });

export const createFullKeyInput = z.object({
  ...createApiKeyBody,
  name: readableName(1, 100),
  /** None, of a key for the product alone. */
  scopes: z.array(scopeName).max(10),
  permissions: productPermissionNames.default([]),
});
export const setPermissionsInput = z.object({ keyId: resourceId, permissions: productPermissionNames });

/** An API key on the pages of the console. */
export const listedKeyOutput = fullKeyOutput.extend({
  /** Expiry of the previous secret after a rotation. */
  previousSecretUntil: timestamp.nullable(),
  madeBy: z.object({
    ...accountIds,
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
  }),
  /** Whether the caller created it. Only its creator can change its scopes and secret. */
  isOwn: z.boolean(),
});

export const keyUsageInput = z.object({ keyId: resourceId, teamId: resourceId.optional() });
export const renameKeyInput = z.object({ keyId: resourceId, name: readableName(1, 100) });

const usageDay = z.object({ day: z.iso.date(), requests: z.int() });

/** The days with requests, in UTC, of the last 90. Days without any are left out. */
export const teamUsageOutput = z.array(usageDay);
export const keyUsageOutput = z.object({
  days: z.array(usageDay),
  /** The IP address of the last request; null if there was none, or if it was verified by another service. */
  lastAddress: z.string().nullable(),
});

type KeyFields = {
  id: string;
  name: string;
  keyPrefix: string;
  last4: string;
  scopes: (typeof SCOPES)[number][];
  productPermissions?: readonly string[] | undefined;
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

/** Presents a key with its product permissions. */
export const presentFullKey = (key: KeyFields) => ({
  ...presentApiKey(key),
  permissions: [...(key.productPermissions ?? [])],
});
