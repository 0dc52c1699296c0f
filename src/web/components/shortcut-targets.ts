/** Where `g` and then a letter leads; the second half only from within a team. */
export const PLACES = { t: '/', k: '/api-keys', a: '/account', d: '/developer' } as const;
export const TEAM_PLACES = {
  o: '/teams/$teamId',
  m: '/teams/$teamId/members',
  i: '/teams/$teamId/invitations',
  r: '/teams/$teamId/roles',
  s: '/teams/$teamId/settings',
} as const;
