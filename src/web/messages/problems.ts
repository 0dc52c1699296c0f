import { defineTexts } from './define-texts.ts';

/** What users can do about an error, by its code. The problem documents advise the authors of API clients instead. */
export const problemAdvice = defineTexts('problems', {
  sign_in_failed: 'The email or password is incorrect. Try again, request a sign-in link, or reset your password.',
  passkey_refused: 'The passkey was not accepted. Try again, or sign in with your password.',
  email_not_verified: 'Open the link in the verification email, or request a new one.',
  link_invalid: 'It was used, has expired, or was replaced by a newer one.',
  invitation_for_another: 'Sign in with the email address that was invited.',
  account_exists: 'Sign in, then open the invitation again.',
  account_owns_teams: 'Transfer or delete your teams that have other members first.',
  owner_cannot_leave: 'Transfer the ownership, or delete the team.',
  transfer_not_found: 'It was withdrawn, has expired, or is for someone else. Reload the page.',
  grant_not_found: 'The access was already removed. Reload the page.',
  client_not_found: 'The application was deleted. Reload the page.',
  client_limit_reached: 'Delete applications that are no longer used.',
  role_not_found: 'The role was deleted. Reload the page.',
  passkey_not_found: 'The passkey was removed. Reload the page.',
  permission_missing: 'Your role no longer allows this. Ask the owner of the team.',
  team_limit_reached: 'Delete or transfer a team, or ask the operator of this service to raise the limit.',
  seat_limit_reached: 'Free a seat or change the plan. Active members and pending invitations each use a seat.',
  key_limit_reached: 'Revoke API keys that are no longer used.',
  role_not_assignable: 'Choose a role without permissions that you do not have.',
  member_not_found: 'They have left the team or were removed. Reload the page.',
  invitation_not_found: 'It was accepted, declined or revoked. Reload the page.',
  api_key_not_found: 'The key was already revoked. Reload the page.',
  picture_unreachable:
    'The picture could not be fetched. The URL has to lead straight to a picture of at most 2 MB on a public server.',
  internal_error: 'The error was logged. Try again, or report it with the request ID.',
  service_unavailable: 'Wait a moment, then try again.',
});
