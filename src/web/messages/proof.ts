/** The words of the dialog in which users confirm who they are. */
export const proofTexts = {
  title: 'Confirm that it is you',
  explanation: 'This action needs a recent sign-in. Confirm with your password or a passkey to continue.',
  submit: 'Confirm',
  passkey: 'Confirm with a passkey',
} as const;

export const accountChangedTexts = {
  title: 'Signed in as a different user',
  explanation:
    'In another tab, this browser was signed in as a different user. Nothing was changed. Reload the page to continue as that user.',
  reload: 'Reload',
} as const;
