/** The words of the page about a team's members. */
export const membersTexts = {
  title: 'Members',
} as const;
