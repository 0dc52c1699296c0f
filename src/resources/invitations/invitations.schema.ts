import { z } from 'zod';
import { EMAIL_FAILURES } from '../../entities/index.ts';
import { emailAddress, exactEmailAddress, text, timestamp } from '../../procedures/fields.ts';
import { continuation } from '../oauth-consent/continuation.ts';
import { teamOutput } from '../teams/teams.schema.ts';

export const createTeamInvitationBody = {
  email: exactEmailAddress.meta({ description: 'The email address to invite.' }),
  roleId: text(1, 255).default('member').meta({ description: 'The id of a role that the caller can assign.' }),
  isSystemRole: z.boolean().default(true).meta({ description: 'Send false together with a team-defined role.' }),
};

/** The same for the console. */
export const invitationInput = { ...createTeamInvitationBody, email: emailAddress };

export const invitationOutput = z
  .object({
    id: z.string().meta({ description: 'The id of the invitation.' }),
    email: z.string().meta({ description: 'The invited email address.' }),
    roleId: z.string().meta({ description: 'The id of the role that the invitation grants.' }),
    roleName: z.string().nullable().meta({ description: 'The name of the role.' }),
    isSystemRole: z.boolean().meta({ description: 'Whether it is one of the roles that every team has.' }),
    createdAt: timestamp.meta({ description: 'When the address was first invited.' }),
    expiresAt: timestamp.meta({ description: 'When the link stops working.' }),
  })
  .meta({ id: 'Invitation', description: 'A pending invitation.' });

export const openInvitationOutput = z.object({
  ...invitationOutput.shape,
  sentAt: timestamp.meta({ description: 'When the email was last requested.' }),
  isExpired: z.boolean(),
  emailFailure: z
    .enum(EMAIL_FAILURES)
    .nullable()
    .meta({ description: 'Why the last email was not sent, if it failed.' }),
});

export const createdInvitationOutput = z.object({ invitation: invitationOutput, link: z.string() });

export type InvitationFields = {
  readonly id: string;
  readonly email: string;
  readonly role: { readonly id: string; readonly name: string; readonly isSystemRole: boolean };
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export const presentInvitation = ({ id, email, role, createdAt, expiresAt }: InvitationFields) => ({
  id,
  email,
  roleId: role.id,
  roleName: role.name,
  isSystemRole: role.isSystemRole,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

/** The token of a link. A malformed one is an invalid link, not an invalid request. */
export const linkToken = z.string();

export const linkedInvitationOutput = z.object({
  teamName: z.string(),
  roleName: z.string(),
  inviterName: z.string().nullable(),
  email: z.string(),
  expiresAt: timestamp,
  provesMailbox: z.boolean().meta({ description: 'Whether signing up by this link needs no verification email.' }),
  hasAccount: z.boolean().nullable().meta({ description: 'Null for a link that does not prove the mailbox.' }),
  application: z
    .string()
    .optional()
    .meta({ description: 'The name of the application that sent it, where accepting it leads.' }),
  acceptedTeamId: z
    .string()
    .optional()
    .meta({ description: 'The team, if the signed-in reader has accepted the invitation already.' }),
});

export const acceptedInvitationOutput = teamOutput.extend({ continueTo: continuation.optional() });
