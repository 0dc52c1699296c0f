import type { Outputs } from '../api-types.ts';

type Scope = Outputs['operator']['listOperatorKeys']['keys'][number]['scopes'][number];

/** What each scope of an operator key permits. */
export const operatorScopeTexts = {
  'accounts:read': 'List and read accounts and their API keys',
  'accounts:write':
    'Create, change, disable and delete accounts, end their sessions, send them links, revoke their API keys; with teams:write, create those',
  'teams:read': 'List and read teams, their members and API keys',
  'teams:write': 'Create, change and delete teams, change their members and owner',
  'billing:write': 'Set subscriptions',
  'credentials:verify': 'Ask who a credential belongs to and what it permits',
  'events:read': 'Read the events of all accounts and teams',
  'webhooks:write': 'Manage the webhook endpoints of the installation',
  'clients:write': 'Manage the OAuth clients of the operator, first-party ones too',
  'keys:write': 'List, create, rotate and revoke operator keys',
} as const satisfies Readonly<Record<Scope, string>>;
