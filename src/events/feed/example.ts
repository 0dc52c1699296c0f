import { EVENTS, type EventName } from '../catalogue.ts';
import type { EventDefinition, EventTarget } from '../definition.ts';
import type { DataKind } from '../data.ts';
import { createDetailsExample } from '../details-schema.ts';
import type { DeliveredEvent } from './event-schema.ts';

const AT = '2026-11-21T09:30:00.000Z';
const LATER = '2026-12-21T09:30:00.000Z';
const MEMBER_ROLE = { roleId: 'member', roleName: 'Member', isSystemRole: true };

const CLIENT = { id: 'client_0one', name: 'Calendar' };

/** An example of each kind of resource. */
const RESOURCES: Readonly<Record<DataKind, object>> = {
  account: {
    id: 'acc_0ada',
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    role: 'user',
    avatar: null,
    preferredLocale: 'en',
    emailVerified: AT,
    createdAt: AT,
    updatedAt: AT,
  },
  accountMetadata: { accountId: 'acc_0ada', public: { theme: 'dark' } },
  session: {
    id: 'ses_0one',
    createdAt: AT,
    expiresAt: LATER,
    authenticationType: 'password',
    country: 'DE',
    city: 'Berlin',
    browser: 'Firefox',
    os: 'Linux',
    deviceType: 'desktop',
  },
  passkey: { id: 'pass_0one', name: 'Laptop', createdAt: AT, lastUsedAt: null },
  team: { id: 'team_0acme', name: 'Acme', slug: 'acme', description: null, avatarUrl: null },
  teamMetadata: { teamId: 'team_0acme', public: { region: 'eu' } },
  member: {
    membershipId: 'mem_0one',
    accountId: 'acc_0ada',
    userId: 'acc_0ada',
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    avatar: null,
    ...MEMBER_ROLE,
    isActive: true,
    status: 'active',
    joinedAt: AT,
    expiresAt: null,
  },
  memberMetadata: { membershipId: 'mem_0one', accountId: 'acc_0ada', public: { title: 'Editor' } },
  role: {
    roleId: 'role_0one',
    name: 'Editor',
    isSystemRole: false,
    permissions: ['invite_members'],
    productPermissions: ['invoices:write'],
  },
  invitation: { id: 'inv_0one', email: 'ida@example.com', ...MEMBER_ROLE, createdAt: AT, expiresAt: LATER },
  apiKey: {
    id: 'key_0one',
    name: 'CI',
    keyPrefix: 'rst_key_0a',
    last4: 'x9Yz',
    scopes: ['teams:read'],
    permissions: ['invoices:read'],
    teamId: 'team_0acme',
    createdAt: AT,
    lastUsedAt: null,
    expiresAt: null,
  },
  subscription: {
    planId: 'pro',
    planName: 'Pro',
    status: 'active',
    interval: 'month',
    addons: { seats: 5 },
    planExpiresAt: LATER,
    cancelAtPeriodEnd: false,
    needsPaymentAction: false,
  },
  oauthClient: {
    ...CLIENT,
    redirectUris: ['https://calendar.example/callback'],
    isNative: false,
    isConfidential: true,
    createdAt: AT,
  },
  client: CLIENT,
  oauthGrant: {
    id: 'grant_0one',
    client: CLIENT,
    audience: 'team',
    resource: 'api',
    team: { id: 'team_0acme', name: 'Acme' },
    scopes: ['teams:read'],
    openidScopes: [],
    createdAt: AT,
    lastUsedAt: null,
    expiresAt: LATER,
  },
  webhookEndpoint: {
    endpointId: 'whe_0one',
    url: 'https://hooks.example',
    types: ['member.added'],
    signature: 'hmac',
    publicKey: null,
    status: 'active',
    disabledReason: null,
    failingSince: null,
    previousSecretExpiresAt: null,
    responsibleAccountId: 'acc_0ada',
    responsibleUserId: 'acc_0ada',
    createdAt: AT,
  },
  operatorKey: {
    id: 'opk_0one',
    name: 'Billing system',
    keyPrefix: 'rst_op_0a',
    last4: 'x9Yz',
    scopes: ['billing:write'],
    addresses: [],
    createdAt: AT,
    lastUsedAt: null,
    expiresAt: null,
  },
};

/** Returns the id of the target of an example: that of its resource, if it has one. */
function exampleId(target: EventTarget, resource: object): string {
  const ids = Object.entries(resource).filter(([name]) => ['id', 'endpointId', 'roleId'].includes(name));
  return ids.map(([, id]) => String(id)).at(0) ?? `${target === 'import' ? 'imp' : target}_0one`;
}

/** Creates an example of a delivered event. */
export function createEventExample(type: EventName): DeliveredEvent {
  const { audience, target, data, version }: EventDefinition = EVENTS[type];
  const resource = data === null ? null : RESOURCES[data];
  const hasTarget = target !== null && !['team', 'account', 'membership', 'oauth_client', 'audit_log'].includes(target);
  return {
    id: 'evt_0one',
    type,
    version,
    occurredAt: AT,
    actor: { kind: 'session', id: 'acc_0ada', credentialId: 'ses_0one', clientId: null },
    teamId: audience === 'team' ? 'team_0acme' : null,
    accountId: audience === 'operator' ? null : 'acc_0ada',
    target: hasTarget ? { type: target, id: exampleId(target, resource ?? {}) } : null,
    requestId: '0b9f6f0e-3f5c-4d9a-8a5e-1c2d3e4f5a6b',
    clientRequestId: 'order-1842',
    details: createDetailsExample(type),
    data: data === null ? null : { [data]: resource },
  };
}
