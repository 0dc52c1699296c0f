import { definePageTexts } from './define-page-texts.ts';

/** Texts of the list of keyboard shortcuts. */
export const shortcutTexts = definePageTexts('shortcut', {
  title: 'Keyboard shortcuts',
  help: 'Show keyboard shortcuts',
  search: 'Focus the search field',
  commands: 'Search pages and actions (⌘ K on Apple devices)',
  places: {
    '/': 'Go to your teams',
    '/api-keys': 'Go to your API keys',
    '/account': 'Go to your account',
    '/developer': 'Go to the developer page',
    '/teams/$teamId': 'In a team: go to its overview',
    '/teams/$teamId/members': 'In a team: go to its members',
    '/teams/$teamId/invitations': 'In a team: go to its invitations',
    '/teams/$teamId/roles': 'In a team: go to its roles',
    '/teams/$teamId/settings': 'In a team: go to its settings',
  },
  switch: 'Use keyboard shortcuts',
  switchHint: '`?` always opens this list. Saved in this browser.',
});
