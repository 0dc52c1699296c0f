import { defineTexts } from './define-texts.ts';

/** Texts of the pages about API keys. */
export const apiKeysTexts = defineTexts('apiKeys', {
  title: 'API keys',
  explanation:
    'Programs use a key to act as you in all your teams, within the key’s scopes. Uses appear within a minute.',
  teamTitle: 'Team API keys',
  teamExplanation:
    'Team keys can access only this team, with at most the permissions of the person who created them. Uses appear within a minute.',
  create: 'Create key',
  emptyTitle: 'You have no API keys',
  empty: 'A key lets a script or service use the API without your password.',
  teamEmptyTitle: 'The team has no API keys',
  teamEmpty: 'A team key lets a script or service access only this team.',
  you: 'you',
  nameless: 'a member without a name',
  created: 'Created {date}',
  createdBy: 'Created {date} by {person}',
  used: 'last used {date}',
  // Uses are written in batches, at most a minute late.
  unused: 'no use recorded yet',
  expires: 'expires {date}',
  expiredOn: 'expired {date}',
  endless: 'does not expire',
  expired: 'Expired',
  previous: 'The previous secret works until {date}.',
  scopeCount: '{count, plural, one {# scope} other {# scopes}}',
  scopesOf: 'Scopes of {key}',

  createTitle: 'Create an API key',
  createTeamTitle: 'Create a team API key',
  name: 'Name',
  nameHint: 'The application that uses the key.',
  scopes: 'Scopes',
  scopesHint: 'Select only the scopes it needs. A key cannot have more access than you.',
  teamScopesHint: 'Select only the scopes it needs. A key cannot have more access to the team than you.',
  noScopes: 'Select at least one scope.',
  expiry: 'Expires',
  /** By days; the service takes at most 365. */
  expiries: { '30': 'In 30 days', '90': 'In 90 days', '365': 'In a year', never: 'Never' },
  expiryHint: 'An expired key that is forgotten does no harm.',
  submit: 'Create key',

  createdTitle: '{key} created',
  rotatedTitle: 'New secret of {key}',
  onceTitle: 'Copy the secret now',
  once: 'It is shown only once.',
  secret: 'Secret',
  curl: 'Try it',
  done: 'Done',

  change: 'Change scopes',
  changeOf: 'Change scopes of {key}',
  changeTitle: 'Scopes of {key}',
  changeHint: 'The change applies from the next request on.',
  changed: 'Scopes changed.',

  rotate: 'Rotate secret',
  rotateOf: 'Rotate secret of {key}',
  rotateExplanation: 'Update every application that uses {key}. Scopes and expiration stay the same.',

  revoke: 'Revoke',
  revokeOf: 'Revoke {key}',
  revokeTitle: 'Revoke the key?',
  revokeExplanation:
    'Applications that use {key} lose access immediately. Last minute’s uses aside: {use}. This cannot be undone.',
  revokeForeign: 'Created by {person}.',
  revoked: 'Key revoked.',
});
