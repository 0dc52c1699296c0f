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
