import { z } from 'zod';
import {
  OPENID_SCOPES,
  OPERATOR_SCOPES,
  PERMISSIONS,
  RESOURCES,
  SCOPES,
  SUBSCRIPTION_INTERVALS,
  SUBSCRIPTION_STATUSES,
} from '../entities/index.ts';
import { openEnum } from '../open-enum.ts';

const id = z.string();
const time = z.string().meta({ format: 'date-time' });
const scopes = z.array(z.enum(SCOPES));
const clientOf = { id, name: z.string() };
const forOperators = z
  .string()
  .nullable()
  .optional()
  .meta({ description: 'The id that the operator gave it. Only operators see it.' });
const ofProduct = z
  .array(z.string())
  .optional()
  .meta({ description: 'The permissions of the operator’s product. Left out of events from before they existed.' });
const metadataOf = { public: z.record(z.string(), z.unknown()) };
const roleOf = { roleId: id, roleName: z.string().nullable(), isSystemRole: z.boolean() };

/**
 * What `data` of an event shows: the resource as REST shows it, without secrets and without what only its reader has,
 * such as their own role; of metadata, the public part. `test/events/catalogue.gate.test.ts` compares both.
 */
export const DATA = {
  account: z.strictObject({
    id,
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    role: z.string(),
    avatar: z.string().nullable(),
    preferredLocale: z.string().nullable(),
    externalId: forOperators,
    emailVerified: time.nullable(),
    createdAt: time,
    updatedAt: time,
  }),
  accountMetadata: z.strictObject({ accountId: id, ...metadataOf }),
  session: z.strictObject({
    id,
    createdAt: time,
    expiresAt: time,
    authenticationType: z.string().nullable(),
    country: z.string().nullable(),
    city: z.string().nullable(),
    browser: z.string().nullable(),
    os: z.string().nullable(),
    deviceType: z.string().nullable(),
  }),
  passkey: z.strictObject({ id, name: z.string(), createdAt: time, lastUsedAt: time.nullable() }),
  team: z.strictObject({
    id,
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    avatarUrl: z.string().nullable(),
    externalId: forOperators,
  }),
  teamMetadata: z.strictObject({ teamId: id, ...metadataOf }),
  member: z.strictObject({
    membershipId: id,
    accountId: id,
    userId: id.meta({ deprecated: true, description: 'The same as `accountId`.' }),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    avatar: z.string().nullable(),
    ...roleOf,
    isActive: z.boolean().meta({ description: 'Whether `status` is `active`.' }),
    status: openEnum(['active', 'inactive', 'expired']).meta({
      description: 'An active membership expires at `expiresAt` without an event. More can be added.',
    }),
    joinedAt: time.nullable(),
    expiresAt: time.nullable(),
  }),
  memberMetadata: z.strictObject({ membershipId: id, accountId: id, ...metadataOf }),
  role: z.strictObject({
    roleId: id,
    name: z.string().nullable(),
    isSystemRole: z.boolean(),
    permissions: z.array(z.enum(PERMISSIONS)),
    productPermissions: ofProduct,
  }),
  invitation: z.strictObject({ id, email: z.string(), ...roleOf, createdAt: time, expiresAt: time }),
  apiKey: z.strictObject({
    id,
    name: z.string(),
    keyPrefix: z.string(),
    last4: z.string(),
    scopes,
    permissions: ofProduct,
    teamId: id.nullable(),
    createdAt: time,
    lastUsedAt: time.nullable(),
    expiresAt: time.nullable(),
  }),
  subscription: z.strictObject({
    planId: id,
    planName: z.string(),
    status: z.enum(SUBSCRIPTION_STATUSES).nullable(),
    interval: z.enum(SUBSCRIPTION_INTERVALS).nullable(),
    addons: z.record(z.string(), z.number()),
    planExpiresAt: time.nullable(),
    cancelAtPeriodEnd: z.boolean(),
    needsPaymentAction: z.boolean(),
  }),
  /** What the owner of a client sees of it. */
  oauthClient: z.strictObject({
    id,
    name: z.string(),
    redirectUris: z.array(z.string()),
    isNative: z.boolean(),
    isConfidential: z.boolean(),
    createdAt: time,
  }),
  /** A client as grants show it. */
  client: z.strictObject(clientOf),
  oauthGrant: z.strictObject({
    id,
    client: z.strictObject(clientOf),
    audience: z.enum(['personal', 'team']),
    resource: z.enum(RESOURCES),
    team: z.strictObject({ id, name: z.string() }).nullable(),
    scopes,
    openidScopes: z.array(z.enum(OPENID_SCOPES)),
    createdAt: time,
    lastUsedAt: time.nullable(),
    expiresAt: time,
  }),
  webhookEndpoint: z.strictObject({
    endpointId: id,
    url: z.string().meta({ description: 'Without its path and query, which can contain a secret.' }),
    types: z.array(z.string()),
    signature: z.enum(['hmac', 'ed25519']),
    publicKey: z.string().nullable(),
    status: openEnum(['active', 'failing', 'paused', 'disabled']),
    disabledReason: z.string().nullable(),
    failingSince: time.nullable(),
    previousSecretExpiresAt: time.nullable(),
    responsibleAccountId: id.nullable(),
    responsibleUserId: id.nullable().meta({ deprecated: true, description: 'The same as `responsibleAccountId`.' }),
    createdAt: time,
  }),
  operatorKey: z.strictObject({
    id,
    name: z.string(),
    keyPrefix: z.string(),
    last4: z.string(),
    scopes: z.array(z.enum(OPERATOR_SCOPES)),
    addresses: z.array(z.string()),
    createdAt: time,
    lastUsedAt: time.nullable(),
    expiresAt: time.nullable(),
  }),
} as const;

export type DataKind = keyof typeof DATA;

/** The kinds with an id of the operator's own system, which is nobody else's business. */
const WITH_EXTERNAL_ID: readonly DataKind[] = ['account', 'team'];

/** Returns the stored data of an event without what only operators see. */
export function withoutOperatorFields(data: Readonly<Record<string, unknown>> | null) {
  if (data === null) return null;
  const shown = { ...data };
  for (const kind of WITH_EXTERNAL_ID) {
    const { externalId: _, ...fields } = (shown[kind] ?? {}) as Record<string, unknown>; // as `DATA` declares
    if (kind in shown) shown[kind] = fields;
  }
  return shown;
}

/** The kinds that tell of the account of the event. The others tell of a team, an invited address or the installation. */
const OF_ACCOUNT: readonly DataKind[] = [
  'account',
  'accountMetadata',
  'session',
  'passkey',
  'member',
  'memberMetadata',
  'apiKey',
  'oauthClient',
  'client',
  'oauthGrant',
];

/** Returns whether data tells of the account of its event. */
export const tellsOfAccount = (kind: DataKind): boolean => OF_ACCOUNT.includes(kind);
