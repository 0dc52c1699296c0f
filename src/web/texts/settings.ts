/** The words of the page about a team's settings. */
export const settingsTexts = {
  title: 'Settings',
} as const;
