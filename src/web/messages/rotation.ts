import { definePageTexts } from './define-page-texts.ts';

/** Texts of the dialog that rotates the secret of a key or client. */
export const rotationTexts = definePageTexts('rotation', {
  title: 'Rotate secret',
  overlap: 'Current secret stays valid',
  overlaps: { '0': 'Not at all', '1': 'For 1 hour', '24': 'For 24 hours', '168': 'For 7 days' },
  overlapHint: 'Only two secrets can be valid. A secret that is already being replaced stops working now.',
});
