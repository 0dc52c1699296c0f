import type { AccountEmail } from '../../src/email/account-email.ts';
import { renderAccountEmail } from '../../src/email/account-emails.ts';
import { renderInvitationEmail } from '../../src/email/invitation-email.ts';
import type { EmailContext } from '../../src/email/content.ts';
import type { RenderedEmail } from '../../src/email/layout.ts';
import { getEmailMessages } from '../../src/messages/email-messages.ts';
import type { Language } from '../../src/messages/languages.ts';

export const BASE_URL = 'https://roster.example';
export const EXPIRES_AT = new Date('2030-05-06T07:08:09Z');
const linked = { token: 'rst_ev_secret', expiresAt: EXPIRES_AT };
const unusedKey = { name: 'CI', keyPrefix: 'rst_pk_abcdef', last4: 'wxyz', endsAt: '2030-01-02T00:00:00Z' };
const leakedKey = { kind: 'leaked_key_revoked', keyName: 'CI', keyPrefix: 'rst_tk_abcdef', last4: 'wxyz' } as const;
const webhook = { kind: 'webhook_disabled', url: 'https://receiver.example/hook' } as const;
const place = 'https://github.com/octo/repo';

/** Every kind of email about an account, in each of its variants. A new kind does not compile without an example. */
const EXAMPLES: { [Kind in AccountEmail['kind']]: readonly (AccountEmail & { kind: Kind })[] } = {
  verify_email: [{ kind: 'verify_email', ...linked }],
  change_email: [{ kind: 'change_email', ...linked }],
  reset_password: [{ kind: 'reset_password', ...linked }],
  sign_in: [{ kind: 'sign_in', ...linked }],
  already_registered: [{ kind: 'already_registered' }],
  password_changed: [{ kind: 'password_changed' }],
  password_reset: [{ kind: 'password_reset' }],
  access_revoked: [{ kind: 'access_revoked' }],
  passkey_added: [{ kind: 'passkey_added' }],
  api_key_created: [{ kind: 'api_key_created' }],
  account_deleted: [{ kind: 'account_deleted' }],
  email_change_requested: [{ kind: 'email_change_requested', newEmail: 'new@example.com' }],
  email_changed: [{ kind: 'email_changed', newEmail: 'new@example.com' }],
  ownership_offer_made: [{ kind: 'ownership_offer_made', teamName: 'Acme' }],
  team_deleted: [{ kind: 'team_deleted', teamName: 'Acme' }],
  webhook_disabled: [
    { ...webhook, reason: 'gone' },
    { ...webhook, reason: 'failing' },
    { ...webhook, reason: 'member_left' },
    { ...webhook, reason: 'failing', isOfInstallation: true },
    { ...webhook, reason: 'a reason of a later version' },
  ],
  unused_keys: [
    { kind: 'unused_keys', keys: [unusedKey], number: 1 },
    { kind: 'unused_keys', keys: [unusedKey, unusedKey], number: 3 },
    { kind: 'unused_keys', keys: [unusedKey, unusedKey], number: 12 },
  ],
  leaked_key_revoked: [
    { ...leakedKey, teamName: 'Acme', leak: 'github', foundAt: place },
    { ...leakedKey, teamName: null, leak: 'github', foundAt: null },
    { ...leakedKey, teamName: null, leak: 'holder', foundAt: null },
  ],
  leaked_token_revoked: [{ kind: 'leaked_token_revoked', clientName: 'An app', leak: 'holder', foundAt: null }],
  new_device: [
    { kind: 'new_device', browser: 'Firefox', os: 'Linux', country: 'DE', city: 'Berlin', at: EXPIRES_AT },
    { kind: 'new_device', browser: null, os: null, country: null, city: null, at: EXPIRES_AT },
  ],
  ownership_offered: [
    { kind: 'ownership_offered', teamName: 'Acme', ownerName: 'Ann', expiresAt: EXPIRES_AT },
    { kind: 'ownership_offered', teamName: 'Acme', ownerName: null, expiresAt: EXPIRES_AT },
  ],
};

const INVITATION = { teamName: 'Acme', link: `${BASE_URL}/invitation?token=secret`, expiresAt: EXPIRES_AT };
const INVITATIONS = [
  { ...INVITATION, inviterName: 'Ann', role: { id: 'member', name: 'Member' } },
  { ...INVITATION, inviterName: 'Ann', role: { id: 'guest', name: 'Guest' } },
  { ...INVITATION, inviterName: null, role: { id: 'role_1', name: 'Accounting' } },
];

export const contextFor = (language: Language = 'en'): EmailContext => ({
  messages: getEmailMessages(language),
  brand: { name: 'Roster', color: '#0b57b7' },
  baseUrl: BASE_URL,
});

/** Renders every variant of every email. */
export const renderExamples = (context: EmailContext): (RenderedEmail & { readonly kind: string })[] => [
  ...Object.values(EXAMPLES)
    .flat()
    .map((email) => ({ kind: email.kind, ...renderAccountEmail(email, context) })),
  ...INVITATIONS.map((invitation) => ({ kind: 'invitation', ...renderInvitationEmail(invitation, context) })),
];
