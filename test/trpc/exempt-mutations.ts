// The mutations of which the tests that walk the router ask less, with the reason.

const BY_LINK = 'the link is its proof, and is used up once';
const BY_SIGN_IN = 'the sign-in is its proof';
const OF_ANYBODY = 'anybody can ask for it, and only the mailbox gets what it sends';
const READS = 'it only reads';

/** The mutations that no credential makes, and what decides about them instead. */
export const WITHOUT_CALLER: Readonly<Record<string, string>> = {
  'auth.signUp': 'it makes an attempt, which is no account yet',
  'auth.readVerification': READS,
  'auth.verifyEmail': BY_LINK,
  'auth.resendVerification': OF_ANYBODY,
  'auth.signIn': BY_SIGN_IN,
  'auth.emailSignInLink': OF_ANYBODY,
  'auth.readSignInLink': READS,
  'auth.signInWithLink': BY_LINK,
  'auth.signOut': 'it ends the session that makes it',
  'auth.forgotPassword': OF_ANYBODY,
  'auth.checkLink': READS,
  'auth.resetPassword': BY_LINK,
  'auth.revokeRemainingAccess': 'its token is of a reset or a new password, and only takes access',
  'account.confirmEmailChange': BY_LINK,
  'invitations.read': READS,
  'invitations.decline': BY_LINK,
  'passkeys.signInOptions': 'it makes a challenge, which gives nothing',
  'passkeys.signIn': BY_SIGN_IN,
  'operatorApi.verifyCredential': READS,
};

/** The mutations with an effect that no email tells of. */
export const WITHOUT_NOTICE: Readonly<Record<string, string>> = {
  'passkeys.registrationOptions': 'it only begins a change, and gives nothing',
  'operator.createAccount': 'nobody had access to the account before',
  // As docs/permissions.md says.
  'operator.applyPermissions': 'an event tells what roles can hold, and no email to the owner of each team',
};
