import { z } from 'zod';
import {
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
const roleOf = { roleId: id, roleName: z.string().nullable(), isSystemRole: z.boolean() };

/**
 * What `data` of an event shows: the resource as REST shows it, without secrets and without what only its reader has,
 * such as their own role. `test/events/catalogue.test.ts` compares both.
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
    emailVerified: time.nullable(),
    createdAt: time,
    updatedAt: time,
  }),
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
  }),
  member: z.strictObject({
    membershipId: id,
    userId: id,
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    avatar: z.string().nullable(),
    ...roleOf,
    isActive: z.boolean(),
    joinedAt: time.nullable(),
  }),
  role: z.strictObject({
    roleId: id,
    name: z.string().nullable(),
    isSystemRole: z.boolean(),
    permissions: z.array(z.enum(PERMISSIONS)),
  }),
  invitation: z.strictObject({ id, email: z.string(), ...roleOf, createdAt: time, expiresAt: time }),
  apiKey: z.strictObject({
    id,
    name: z.string(),
    keyPrefix: z.string(),
    last4: z.string(),
    scopes,
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
    responsibleUserId: id.nullable(),
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

/** The kinds that tell of the account of the event. The others tell of a team, an invited address or the installation. */
const OF_ACCOUNT: readonly DataKind[] = [
  'account',
  'session',
  'passkey',
  'member',
  'apiKey',
  'oauthClient',
  'client',
  'oauthGrant',
];

/** Returns whether data tells of the account of its event. */
export const tellsOfAccount = (kind: DataKind): boolean => OF_ACCOUNT.includes(kind);
