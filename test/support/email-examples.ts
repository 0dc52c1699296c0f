import type { AccountEmail } from '../../src/email/account-email.ts';
import { renderAccountEmail } from '../../src/email/account-emails.ts';
import { NOTICE_PAGES, type Notice, type NoticeKind } from '../../src/email/notices.ts';
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

const origin = { browser: 'Firefox', os: 'Linux', country: 'DE', city: 'Berlin' };
const unknown = { browser: null, os: null, country: null, city: null };

/** Every notice in each of its variants: by each kind of caller, and of several things. */
const NOTICES = Object.keys(NOTICE_PAGES).flatMap((name): Notice[] => {
  const notice = { kind: name as NoticeKind, thing: 'A thing', teamId: 'team_1', teamName: 'Acme' };
  const cause = { at: EXPIRES_AT.toISOString(), by: 'session', byId: null, origin } as const;
  return [
    { ...notice, cause },
    { ...notice, person: 'Ann', byName: 'CI', cause: { ...cause, by: 'api_key', byId: 'key_1', origin: unknown } },
    { ...notice, teamId: null, teamName: null, byName: 'An app', cause: { ...cause, by: 'app', byId: 'client_1' } },
    { ...notice, cause: { ...cause, by: 'operator' } },
    { ...notice, number: 1, things: ['A thing'], cause },
    { ...notice, number: 30, things: ['A thing', { thing: 'Another', person: 'Ann' }], cause },
    { kind: notice.kind },
  ];
});

/** Every other kind of email about an account, in each of its variants. A new kind does not compile without an example. */
const EXAMPLES: {
  [Kind in Exclude<AccountEmail['kind'], NoticeKind>]: readonly (AccountEmail & { kind: Kind })[];
} = {
  verify_email: [{ kind: 'verify_email', ...linked }],
  change_email: [{ kind: 'change_email', ...linked }],
  reset_password: [{ kind: 'reset_password', ...linked }],
  sign_in: [{ kind: 'sign_in', ...linked }],
  already_registered: [{ kind: 'already_registered' }],
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
  ...[...Object.values(EXAMPLES).flat(), ...NOTICES].map((email) => ({
    kind: email.kind,
    ...renderAccountEmail(email, context),
  })),
  ...INVITATIONS.map((invitation) => ({ kind: 'invitation', ...renderInvitationEmail(invitation, context) })),
];
