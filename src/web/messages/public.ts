import { defineTexts } from './define-texts.ts';

/** Texts of the pages that need no session. */
export const publicTexts = defineTexts('public', {
  signIn: {
    title: 'Sign in',
    submit: 'Sign in',
    passkey: 'Sign in with a passkey',
    or: 'or',
    forgot: 'Forgot your password?',
    emailLink: 'Email me a sign-in link',
    newHere: 'New here?',
    signUp: 'Create an account',
    endedTitle: 'Your session has ended',
    ended: 'It expired or was signed out. Sign in to continue where you were.',
    alreadyTitle: 'You are signed in as {email}',
    already: 'Continue, or sign in as someone else.',
    proceed: 'Continue',
  },

  signOut: {
    title: 'Sign out?',
    explanation:
      'An application asks to sign you out as {email}. This also signs you out of the applications that you opened with this sign-in.',
    submit: 'Sign out',
    stay: 'Stay signed in',
    doneTitle: 'You are signed out',
    done: 'You can close this window.',
  },
  signUp: {
    title: 'Create your account',
    submit: 'Create account',
    haveAccount: 'Already have an account?',
    signIn: 'Sign in',
    joining: 'You were invited to the team “{team}”. The account is created for the invited email address.',
    verifying:
      'You were invited to the team “{team}”. Because this link was shared, you need to verify {email} first. We will send you an email.',
    closedTitle: 'Sign-up is not open',
    closedDetail: 'Ask a team member for an invitation, or the operator of this service for an account.',
    sentTitle: 'Check your email',
    sentTo: 'We sent a link to {email}. Open it to verify your email and create your account.',
    sentToInvited:
      'We sent a link to {email}. Open it to verify your email. Then open the invitation again to join the team “{team}”.',
    toInvitation: 'Open the invitation',
    sentHint: 'No email? Check your spam folder, or send it again. It can take a few minutes.',
    joined: 'Welcome. You are now a member of “{team}”.',
  },

  application: {
    continueTo: 'Continue to “{client}”',
    later: 'Then you continue to “{client}”.',
    signIn: 'Sign in to continue to “{client}”.',
    signUp: 'Create an account to continue to “{client}”.',
  },

  development: {
    title: 'Emails are not sent during development',
    open: 'Open the emails',
  },

  verification: {
    title: 'Verify your email address',
    explanation: 'Confirm that {email} is your email address.',
    enter:
      'Enter the password that you chose when you signed up with {email}. This is needed because the link was opened in another browser.',
    choose: 'Choose a password for {email}. The password and name given at sign-up are discarded.',
    toNewPassword: 'I don’t know this password',
    toPassword: 'Use the password from sign-up',
    moved:
      'The operator set {email} as the address of an account. If the account is yours, confirm it with its password or a passkey.',
    askOperator: 'If you can’t, ask the operator to confirm the address. Until then the account stays as it is.',
    toOwn: 'This is not my account',
    ownAccount: 'Choose a password for a new account with {email}. The other account goes back to its former address.',
    createOwn: 'Create my own account',
    toMoved: 'This is my account',
    submit: 'Verify email',
    alreadyTitle: 'Email address already verified',
    already: 'The link was used before. {email} is verified, and you are signed in.',
    doneTitle: 'Email address verified',
    done: 'You are signed in.',
    unverifiedTitle: 'Email address not verified',
    unverified: 'Open the link in the verification email sent to {email}, or request a new one.',
    resend: 'Resend link',
    resent: 'New link sent to {email}.',
  },

  forgot: {
    title: 'Reset your password',
    explanation: 'Enter the email of your account. We will send a link to choose a new password.',
    submit: 'Send link',
    doneTitle: 'Check your email',
    done: 'If {email} has an account, a link is on its way.',
    back: 'Back to sign-in',
  },

  emailSignIn: {
    title: 'Sign in by email',
    explanation: 'Enter the email of your account. We will send a link that signs you in.',
    submit: 'Email me a sign-in link',
    doneTitle: 'Check your email',
    done: 'If {email} has an account, a sign-in link is on its way. It works once and expires in an hour.',
    back: 'Back to sign-in',
  },

  signInLink: {
    title: 'Sign in',
    explanation: 'Continue as {email}.',
    submit: 'Sign in',
    another: 'Request another link',
  },

  reset: {
    title: 'Choose a new password',
    explanation: 'You will be signed out everywhere. Then sign in with the new password.',
    submit: 'Set password',
    doneTitle: 'Password changed',
    done: 'Sign in with the new password.',
  },

  link: {
    incompleteTitle: 'Link incomplete',
    incomplete: 'Open it from the email again, or copy the complete link into the browser.',
    toForgot: 'Request another link',
    toVerification: 'Sign in to request another link',
    toAccount: 'Change the email again in your account',
    invitation: 'Ask the person who invited you to send the invitation again.',
  },

  invitation: {
    title: 'Join “{team}”',
    loadingTitle: 'Team invitation',
    failedTitle: 'This invitation could not be shown',
    from: '“{inviter}” invites you to the team “{team}”.',
    fromMember: 'A member invites you to the team “{team}”.',
    invited: 'Invited',
    role: 'Role',
    until: 'Valid until',
    accept: 'Accept invitation',
    decline: 'Decline',
    declineTitle: 'Decline the invitation?',
    declineExplanation: 'The link stops working. The team can invite you again.',
    declined: 'Invitation declined',
    declinedDetail: 'The link no longer works.',
    accepted: 'You are now a member of “{team}”.',
    alreadyTitle: 'Invitation already accepted',
    already: 'You are a member of “{team}”.',
    toTeam: 'Open team',
    signIn: 'Sign in to accept',
    signUp: 'Sign up to accept',
    passedOn:
      'Sign in with an account for {email}. If there is none yet, sign up: you will need to verify this email first.',
    otherTitle: 'This invitation is for another email',
    other: 'It is for {invited}, and you are signed in as {own}. Sign out, then sign in as {invited}.',
    signOut: 'Sign out and continue',
  },
});
