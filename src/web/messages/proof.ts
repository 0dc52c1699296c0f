import { defineTexts } from './define-texts.ts';

/** Texts of the dialog in which users confirm who they are. */
export const proofTexts = defineTexts('proof', {
  title: 'Confirm that it is you',
  explanation: 'This action needs a recent sign-in. Confirm that it is you to continue.',
  submit: 'Confirm',
  passkey: 'Confirm with a passkey',
  link: 'Email me a sign-in link',
  linkUsedTitle: 'You have confirmed that it is you',
  linkUsed: 'The page that asked you continues in its tab. You can close this one.',
  linkSent: 'Open the link that was emailed to you in this browser, and sign in. Then this page continues.',
});

export const accountChangedTexts = defineTexts('accountChanged', {
  title: 'Signed in as a different user',
  explanation:
    'In another tab, this browser was signed in as a different user. Nothing was changed. Reload the page to continue as that user.',
  reload: 'Reload',
});

/** Texts of the last page of a password reset. */
export const remainingAccessTexts = defineTexts('remainingAccess', {
  title: 'Still has access',
  explanation:
    'These still give access to your account. If you do not recognize one, or someone else knew your password, revoke all of them. This also signs out your other sessions.',
  kinds: { passkey: 'Passkey', api_key: 'API key', connected_app: 'Connected app' },
  created: 'created {date}',
  used: 'last used {date}',
  unused: 'no use recorded',
  submit: 'Revoke all',
  revoked: 'All passkeys, API keys and connected apps were revoked, and your other sessions were signed out.',
});

/** What a session proves. */
export const provenMethodTexts = defineTexts('provenMethods', {
  signedIn: 'Signed in with: {methods}',
  names: { password: 'password', link: 'sign-in link', passkey: 'passkey' },
});
