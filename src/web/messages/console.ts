import { defineTexts } from './define-texts.ts';

/** Texts that several pages share. The text of a failed call comes from its problem document. */
export const texts = defineTexts('console', {
  skipToContent: 'Skip to content',
  loading: 'Loading…',
  onThisPage: 'On this page',
  email: 'Email',
  password: 'Password',
  showPassword: 'Show password',
  newPassword: 'New password',
  passwordHint: 'At least 8 characters. Length matters more than special characters.',
  firstName: 'First name',
  lastName: 'Last name',
  optional: '{label} (optional)',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  retry: 'Try again',
  toTeams: 'Go to your teams',
  toSignIn: 'Go to sign-in',

  offline: {
    title: 'You are offline',
    detail:
      'What you see can be out of date. Changes cannot be saved now: make them again when the connection is back.',
  },
  offlineCall: {
    title: 'No connection',
    detail: 'Nothing was changed. Try again when the connection is back.',
  },
  outdated: {
    title: 'This part of the page could not be loaded',
    detail: 'The service may have been updated. Reload the page. If that does not help, try again in a few minutes.',
  },
  reload: 'Reload',
  waitSeconds: '{seconds, plural, one {Try again in # second.} other {Try again in # seconds.}}',
  waitMinutes: '{minutes, plural, one {Try again in # minute.} other {Try again in # minutes.}}',
  saving: 'Saving…',

  unreachable: {
    title: 'The service could not be reached',
    detail: 'Check your connection, then try again.',
  },
  unknownOutcome:
    'It is not known whether this was done. Check your connection, and reload the page before you try again.',

  unexpected: {
    title: 'Unexpected error',
    detail: 'Reload the page and try again.',
  },

  passkeyErrors: {
    notUsed: 'No passkey was used. Try again when you are ready.',
    notCreated: 'No passkey was created. Try again when you are ready.',
    registered: 'This device already has a passkey for your account.',
    failed: 'The browser could not use a passkey.',
  },
  requestId: 'Request ID',
  copy: 'Copy',
  copyRequestId: 'Copy request ID',
  copied: 'Copied',

  header: {
    navigation: 'Main',
    teams: 'Teams',
    apiKeys: 'Your API keys',
    operator: 'Operator',
    account: 'Account',
    developer: 'Developer',
    signOut: 'Sign out',
    dark: 'Use dark colors',
    light: 'Use light colors',
  },

  home: {
    title: 'Your teams',
    waiting: 'Waiting for you',
    create: 'Create team',
    emptyTitle: 'You are not in a team yet',
    empty: 'Create a team and invite others, or ask someone to invite you by email.',
    name: 'Team name',
    nameless: 'Team without a name',
    description: 'Description',
    created: 'Team “{team}” created. You are the owner.',
    createTitle: 'Create a team',
    submit: 'Create team',
    table: {
      search: 'Search by name or description',
      count: '{count, plural, one {# team} other {# teams}}',
      found: '{all, plural, one {{count, number} of # team} other {{count, number} of # teams}}',
      noneFoundTitle: 'No results',
      noneFound: 'No name or description of your teams contains “{search}”.',
      showAll: 'Show all teams',
    },
  },

  notFound: {
    title: 'Page not found',
    detail: 'Check the URL, or go to your teams.',
  },
  failed: { title: 'This page could not be shown' },
});
