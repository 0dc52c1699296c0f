/** The words of the page about a team's roles. */
export const rolesTexts = {
  title: 'Roles',
} as const;
