import { EVENTS, type EventName } from '../catalogue.ts';
import type { EventDefinition } from '../definition.ts';
import type { DataKind } from '../data.ts';
import { DETAILS } from '../details.ts';
import type { DeliveredEvent } from './event-schema.ts';

const AT = '2026-11-21T09:30:00.000Z';
const LATER = '2026-12-21T09:30:00.000Z';
const MEMBER_ROLE = { roleId: 'member', roleName: 'Member', isSystemRole: true };

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
  passkey: { id: 'pass_0one', name: 'Laptop', createdAt: AT },
  team: { id: 'team_0acme', name: 'Acme', slug: 'acme', description: null, avatarUrl: null },
  member: {
    membershipId: 'mem_0one',
    userId: 'acc_0ada',
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
    avatar: null,
    ...MEMBER_ROLE,
    isActive: true,
    joinedAt: AT,
  },
  role: { roleId: 'role_0one', name: 'Editor', isSystemRole: false, permissions: ['invite_members'] },
  invitation: { id: 'inv_0one', email: 'ida@example.com', ...MEMBER_ROLE, createdAt: AT, expiresAt: LATER },
  apiKey: {
    id: 'key_0one',
    name: 'CI',
    keyPrefix: 'rst_key_0a',
    last4: 'x9Yz',
    scopes: ['teams:read'],
    teamId: 'team_0acme',
    createdAt: AT,
    lastUsedAt: null,
    expiresAt: null,
  },
  oauthClient: { id: 'client_0one', name: 'Calendar' },
  oauthGrant: {
    id: 'grant_0one',
    clientId: 'client_0one',
    scopes: ['teams:read'],
    teamId: 'team_0acme',
    createdAt: AT,
    expiresAt: LATER,
  },
};

/** Creates an example of a delivered event. */
export function createEventExample(type: EventName): DeliveredEvent {
  const { audience, target, details, data, version }: EventDefinition = EVENTS[type];
  const shown = details.flatMap((name) => {
    const { example } = DETAILS[name].meta() ?? {};
    return example === undefined ? [] : [[name, example] as const];
  });
  const resource = data === null ? null : RESOURCES[data];
  const id = resource !== null && 'id' in resource ? String(resource.id) : 'role_0one';
  const hasTarget = target !== null && !['team', 'account', 'membership', 'oauth_client'].includes(target);
  return {
    id: 'evt_0one',
    type,
    version,
    occurredAt: AT,
    actor: { kind: 'session', id: 'acc_0ada', credentialId: 'ses_0one', clientId: null },
    teamId: audience === 'team' ? 'team_0acme' : null,
    accountId: 'acc_0ada',
    target: hasTarget ? { type: target, id } : null,
    requestId: '0b9f6f0e-3f5c-4d9a-8a5e-1c2d3e4f5a6b',
    details: Object.fromEntries(shown),
    data: data === null ? null : { [data]: resource },
  };
}
