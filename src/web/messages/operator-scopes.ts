import type { Outputs } from '../trpc.ts';

type Scope = Outputs['operator']['listOperatorKeys']['keys'][number]['scopes'][number];

/** What each scope of an operator key permits. */
export const operatorScopeTexts = {
  'accounts:read': 'List and read accounts',
  'accounts:write': 'Create, change, disable and delete accounts, end their sessions, send them links',
  'teams:read': 'List and read teams and their members',
  'teams:write': 'Create, change and delete teams, change their members and owner',
  'billing:write': 'Set subscriptions',
  'credentials:verify': 'Ask who a credential belongs to and what it permits',
  'events:read': 'Read the events of all accounts and teams',
  'webhooks:write': 'Manage the webhook endpoints of the installation',
  'keys:write': 'List, create, rotate and revoke operator keys',
} as const satisfies Readonly<Record<Scope, string>>;
