import { z } from 'zod';
import { timestamp } from '../../procedures/fields.ts';

export const sessionOutput = z
  .object({
    id: z.string(),
    createdAt: timestamp,
    expiresAt: timestamp,
    isCurrentSession: z.boolean().meta({ description: 'False for every bearer credential.' }),
    authenticationType: z.string().nullable(),
    country: z.string().nullable(),
    city: z.string().nullable(),
    browser: z.string().nullable(),
    os: z.string().nullable(),
    deviceType: z.string().nullable(),
  })
  .meta({ id: 'Session', description: 'A sign-in session of the account.' });
