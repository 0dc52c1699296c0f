/** Targets of `g` followed by a letter. TEAM_PLACES work only in a team. */
export const PLACES = { t: '/', k: '/api-keys', a: '/account', d: '/developer' } as const;
export const TEAM_PLACES = {
  o: '/teams/$teamId',
  m: '/teams/$teamId/members',
  i: '/teams/$teamId/invitations',
  r: '/teams/$teamId/roles',
  s: '/teams/$teamId/settings',
} as const;
