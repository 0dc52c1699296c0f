/** The words of a team's frame and overview. */
export const teamTexts = {
  failedTitle: 'This team could not be shown',
  navigation: 'Team',
  switch: 'Team',
  overview: 'Overview',
  members: 'Members',
  invitations: 'Invitations',
  roles: 'Roles',
  apiKeys: 'API keys',
  billing: 'Billing',
  audit: 'Audit log',
  settings: 'Settings',
  title: (team: string) => team,
} as const;
