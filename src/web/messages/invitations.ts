import { isolateNames } from './isolate.ts';

/** Texts of the page about a team's invitations. */
export const invitationsTexts = isolateNames({
  title: 'Invitations',
  explanation: 'Pending invitations. Each uses a seat until it is accepted or expires.',
  invite: 'Invite people',
  emptyTitle: 'No pending invitations',
  empty: 'Invite people by email. They become members when they accept the link.',
  notAllowedTitle: 'Your role cannot invite people',
  notAllowed: (roles: string) => `Members with these roles can invite people: ${roles}.`,
  sent: (date: string) => `Sent ${date}`,
  until: (date: string) => `valid until ${date}`,
  expiredOn: (date: string) => `expired ${date}`,
  expired: 'Expired',
  emailFailures: {
    rejected: 'The mail server rejected the email. Check the address.',
    unreachable: 'The email could not be sent. Send it again or copy a link.',
    removed: 'The operator removed the email before it was sent. Send it again.',
  },
  again: 'Invite again',
  againOf: (email: string) => `Invite again: ${email}`,
  resend: 'Resend',
  resendOf: (email: string) => `Resend to ${email}`,
  resent: (email: string) =>
    `New link sent to ${email}. Earlier links stop working once it is delivered to the mail server.`,
  revoke: 'Revoke',
  revokeOf: (email: string) => `Revoke the invitation of ${email}`,
  revokeTitle: 'Revoke the invitation?',
  revokeExplanation: (email: string) =>
    `The links for ${email} stop working immediately, and the seat becomes free. You can invite the address again.`,
  revoked: 'Invitation revoked.',
  dialog: {
    addresses: 'Email addresses',
    addressesHint: 'One per line, or separated by commas.',
    corrected: 'Invitations that failed are still listed. Correct and send them again.',
    none: 'Enter at least one email address.',
    ofYou: (email: string) => `${email} is your own email. You are already a member.`,
    ofMembers: (emails: string) => `Already members: ${emails}. They do not need an invitation.`,
    role: 'Role',
    noPermissions: 'No permissions beyond membership',
    noRoles: 'You cannot invite people, because your role cannot grant any role of this team.',
    submit: (count: number) => (count <= 1 ? 'Send invitation' : `Send ${count} invitations`),
    results: 'Results',
    sending: 'Sending…',
    waiting: 'Waiting',
    sent: 'Invited',
    failed: 'Not invited',
    progress: (sent: number, failed: number) =>
      failed === 0 ? `${sent} invited.` : `${sent} invited, ${failed} not invited.`,
    copy: 'Copy link',
    copyOf: (email: string) => `Copy link for ${email}`,
    copyHint:
      'You can share a link yourself. It is shown only now. Because a shared link does not verify the email address, people who sign up with it need to verify their email first.',
    done: 'Done',
  },
} as const);
