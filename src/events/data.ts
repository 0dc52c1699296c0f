import { z } from 'zod';
import { PERMISSIONS, SCOPES } from '../entities/index.ts';

const id = z.string();
const time = z.string().meta({ format: 'date-time' });
const scopes = z.array(z.enum(SCOPES));
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
  passkey: z.strictObject({ id, name: z.string(), createdAt: time }),
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
  oauthClient: z.strictObject({ id, name: z.string() }),
  oauthGrant: z.strictObject({ id, clientId: id, scopes, teamId: id.nullable(), createdAt: time, expiresAt: time }),
} as const;

export type DataKind = keyof typeof DATA;
