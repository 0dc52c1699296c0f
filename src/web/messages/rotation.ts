/** The words of the dialog that makes a new secret, of a key or of a client. */
export const rotationTexts = {
  title: 'Make a new secret',
  overlap: 'How long does the current secret stay valid?',
  overlaps: { '0': 'It ends at once', '1': 'For 1 hour', '24': 'For 24 hours', '168': 'For 7 days' },
  overlapHint: 'At most two secrets are valid: one that is running out already ends now.',
} as const;
