import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, isExpired, text, textId } from './base.ts';
import { Role } from './role.ts';
import { Team } from './team.ts';

const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitation',
  properties: {
    ...base('invt'),
    team: () => p.manyToOne(Team).deleteRule('cascade'),
    /** As the inviter entered it. Email addresses are compared case-insensitively. */
    email: text(),
    role: () => p.manyToOne(Role),
    invitedBy: () => p.manyToOne(Account).nullable().deleteRule('set null'),
    /** Tells an invitation whose sender was deleted from one of the operator. A new sender counts instead. */
    isSenderDeleted: p.boolean().default(false),
    /** The first-party application that sent it, where accepting it leads. Looked up when it is used. */
    clientId: textId().nullable(),
    expiresAt: instant(),
    isExpired: isExpired(),
    acceptedAt: instant().nullable(),
  },
  indexes: [
    { name: 'invitation_role_index', properties: ['role'] },
    { name: 'invitation_team_index', properties: ['team'] },
    {
      name: 'invitation_inviter_index',
      expression:
        'create index "invitation_inviter_index" on "invitation" ("invited_by_id") where invited_by_id is not null',
    },
    {
      name: 'invitation_expiry_index',
      expression: 'create index "invitation_expiry_index" on "invitation" (least(expires_at, accepted_at))',
    },
  ],
  uniques: [
    {
      name: 'invitation_pending_unique',
      expression:
        'create unique index "invitation_pending_unique" on "invitation" ("team_id", lower("email")) where accepted_at is null',
    },
  ],
});

export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);

/** The reason why the email was not sent: rejected by the SMTP server, undeliverable to it, or removed from the queue. */
export const EMAIL_FAILURES = ['rejected', 'unreachable', 'removed'] as const;
export type EmailFailure = (typeof EMAIL_FAILURES)[number];

const InvitationLinkSchema = defineEntity({
  name: 'InvitationLink',
  tableName: 'invitation_link',
  properties: {
    /** SHA-256 of the link's token. Earlier links of a renewed invitation stay valid until the new email was sent. */
    tokenHash: p.blob().primary(),
    invitation: () => p.manyToOne(Invitation).deleteRule('cascade'),
    /** True only for a link that was sent by email. A link that the inviter shares does not verify the address. */
    provesMailbox: p.boolean().default(true),
    createdAt: instant().onCreate(() => new Date()),
    emailFailedAt: instant().nullable(),
    emailFailure: text().$type<EmailFailure>().nullable(),
  },
  indexes: [{ name: 'invitation_link_invitation_index', properties: ['invitation'] }],
  checks: [
    { name: 'invitation_link_failure_check', expression: `email_failure in ('rejected', 'unreachable', 'removed')` },
  ],
});

export class InvitationLink extends InvitationLinkSchema.class {}
InvitationLinkSchema.setClass(InvitationLink);
