import { z } from 'zod';
import { isoOrNull, iso } from '../../db/query.ts';
import { OPERATOR_SCOPES, type OperatorKey, type OperatorScope } from '../../entities/index.ts';
import { readableName, resourceId, text, timestamp } from '../../procedures/fields.ts';

const ADDRESSES_MAX = 50;
const DAYS_MAX = 365;
export const OVERLAP_HOURS_MAX = 168;

export const operatorScopeName = z
  .enum(OPERATOR_SCOPES)
  .meta({ id: 'OperatorScope', description: 'A group of operations that an operator key can call.' });

export const operatorKeyOutput = z
  .object({
    id: z.string().describe('The id of the key.'),
    name: z.string().describe('The name that was given at creation.'),
    keyPrefix: z.string().meta({ description: 'The beginning of the secret.' }),
    last4: z.string().meta({ description: 'The end of the secret.' }),
    scopes: z.array(operatorScopeName).describe('The scopes of the key.'),
    addresses: z
      .array(z.string())
      .meta({ description: 'The IP addresses and networks that can use the key. Empty for all.' }),
    createdAt: timestamp.describe('When it was created.'),
    lastUsedAt: timestamp.nullable().meta({ description: 'Precise to the minute.' }),
    expiresAt: timestamp.nullable().describe('When it expires. Null if it does not.'),
  })
  .meta({ id: 'OperatorKey', description: 'A key of the operator API.' });

export const operatorKeysOutput = z
  .object({ keys: z.array(operatorKeyOutput).meta({ description: 'The oldest first.' }) })
  .meta({ id: 'OperatorKeys', description: 'Operator keys.' });

export const createdOperatorKeyOutput = z
  .object({ key: operatorKeyOutput, secret: z.string().meta({ description: 'The key itself. It is returned once.' }) })
  .meta({ id: 'CreatedOperatorKey', description: 'An operator key with its secret.' });

export const createOperatorKeyInput = z.object({
  name: readableName(1, 100).meta({ description: 'A name for humans.' }),
  scopes: z
    .array(operatorScopeName)
    .min(1)
    .max(OPERATOR_SCOPES.length)
    .describe('The scopes of the key, at most those of the calling key.'),
  expiresInDays: z.int().min(1).max(DAYS_MAX).optional().meta({ description: 'Without it, the key does not expire.' }),
  addresses: z.array(text(1, 50)).max(ADDRESSES_MAX).optional().meta({
    description: 'IP addresses, or networks in CIDR notation. Without any, those of the calling key.',
  }),
});

const keyId = resourceId.meta({ description: 'The id of an operator key.', example: 'opk_0cn7u8m1e4gqf97b0tsl6kd2pj' });

export const operatorKeyInput = z.object({ keyId });

export const rotateOperatorKeyInput = z.object({
  keyId,
  overlapHours: z
    .int()
    .min(0)
    .max(OVERLAP_HOURS_MAX)
    .default(24)
    .meta({ description: 'How long the present secret stays valid.' }),
});

type Shown = z.infer<typeof operatorKeyOutput>;

export const presentOperatorKey = (key: OperatorKey): Shown => ({
  id: key.id,
  name: key.name,
  keyPrefix: key.keyPrefix,
  last4: key.last4,
  scopes: key.scopes,
  addresses: key.addresses,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
});

/** A key as it is read. Lists are separated by spaces. */
export type OperatorKeyRow = {
  id: string;
  name: string;
  key_prefix: string;
  last4: string;
  scopes: string;
  addresses: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};

const words = <Word extends string>(list: string) => list.split(' ').filter(Boolean) as Word[]; // a CHECK constraint holds scopes to their words

export const presentOperatorKeyRow = (row: OperatorKeyRow): Shown => ({
  id: row.id,
  name: row.name,
  keyPrefix: row.key_prefix,
  last4: row.last4,
  scopes: words<OperatorScope>(row.scopes),
  addresses: words(row.addresses),
  createdAt: iso(row.created_at),
  lastUsedAt: isoOrNull(row.last_used_at),
  expiresAt: isoOrNull(row.expires_at),
});
