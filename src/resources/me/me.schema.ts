import { z } from 'zod';
import { text, timestamp } from '../../procedures/fields.ts';

export const updateMeBody = { firstName: text(2, 255), lastName: text(2, 255) };

export const accountOutput = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    role: z.string(),
    avatar: z.string().nullable(),
    preferredLocale: z.string().nullable(),
    emailVerified: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Account', description: 'The account behind a credential.' });
