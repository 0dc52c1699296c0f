/** The words of the list of keyboard shortcuts. */
export const shortcutTexts = {
  title: 'Keyboard shortcuts',
  help: 'Show this list',
  search: 'Go to the search field of the page',
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
  switchHint: 'This list opens all the same. Kept in this browser.',
} as const;
