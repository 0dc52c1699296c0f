import { OPERATOR_SCOPES, type OperatorScope } from '../entities/index.ts';

/** The operations that each scope permits, for the documentation. */
export const OPERATOR_SCOPE_MEANINGS: Readonly<Record<OperatorScope, string>> = {
  'accounts:read': 'list and read accounts and their API keys',
  'accounts:write':
    'create, change, disable and delete accounts, end their sessions, send them links, revoke their API keys; with `teams:write`, create those',
  'teams:read': 'list and read teams, their members and API keys',
  'teams:write': 'create, change and delete teams, change their members and owner',
  'billing:write': 'set subscriptions',
  'credentials:verify': 'ask who a credential belongs to and what it permits',
  'events:read': 'read the events of all accounts and teams',
  'webhooks:write': 'manage the webhook endpoints of the installation',
  'clients:write': 'manage the OAuth clients of the operator, first-party ones too',
  'keys:write': 'list, create, rotate and revoke operator keys',
};

/** Returns the scopes without duplicates, in the order of the documentation. */
export const sortOperatorScopes = (scopes: readonly OperatorScope[]): OperatorScope[] =>
  OPERATOR_SCOPES.filter((scope) => scopes.includes(scope));
