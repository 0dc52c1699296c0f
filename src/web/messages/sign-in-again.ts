import { definePageTexts } from './define-page-texts.ts';

/** Texts of the dialog in which users sign in again on the page that they are on. */
export const signInAgainTexts = definePageTexts('signInAgain', {
  explanation: 'Sign in again as {email} to continue. What you entered on this page is kept.',
  others: 'Other ways to sign in (new tab)',
  leave: 'Leave this page',
});
