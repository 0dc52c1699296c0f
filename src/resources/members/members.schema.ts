import { z } from 'zod';
import { timestamp } from '../../rpc/text.ts';

export const memberOutput = z
  .object({
    membershipId: z.string(),
    userId: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    avatar: z.string().nullable(),
    roleId: z.string(),
    roleName: z.string().nullable(),
    isSystemRole: z.boolean(),
    isActive: z.boolean().meta({ description: 'False for inactive and expired memberships.' }),
    joinedAt: timestamp.nullable(),
  })
  .meta({ id: 'Member', description: 'A membership of a team.' });
