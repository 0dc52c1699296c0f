/** The words of the page about a team's invitations. */
export const invitationsTexts = {
  title: 'Invitations',
} as const;
