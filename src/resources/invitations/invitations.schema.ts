import { z } from 'zod';
import { emailAddress, text, timestamp } from '../../rpc/text.ts';

export const createTeamInvitationBody = {
  email: emailAddress,
  roleId: text(1, 255).default('member').meta({ description: 'The id of a role that the caller can assign.' }),
  isSystemRole: z.boolean().default(true).meta({ description: 'Send false together with a team-defined role.' }),
};

export const invitationOutput = z
  .object({
    id: z.string(),
    email: z.string(),
    roleId: z.string(),
    roleName: z.string().nullable(),
    isSystemRole: z.boolean(),
    createdAt: timestamp,
    expiresAt: timestamp,
  })
  .meta({ id: 'Invitation', description: 'A pending invitation.' });

/** The token of a link. What is no token of ours is a link that does not work, not a fault of the request. */
export const linkToken = z.string();

export const linkedInvitationOutput = z.object({
  teamName: z.string(),
  roleName: z.string(),
  inviterName: z.string().nullable(),
  email: z.string(),
  expiresAt: timestamp,
  hasAccount: z.boolean(),
});
