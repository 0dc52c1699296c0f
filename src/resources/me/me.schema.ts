import { z } from 'zod';
import { text, timestamp } from '../../procedures/fields.ts';

export const updateMeBody = {
  firstName: text(2, 255).meta({ description: 'The new first name.' }),
  lastName: text(2, 255).meta({ description: 'The new last name.' }),
};

export const accountOutput = z
  .object({
    id: z.string().meta({ description: 'The id of the account.' }),
    email: z.string().nullable().meta({ description: 'The email address.' }),
    firstName: z.string().nullable().meta({ description: 'The first name.' }),
    lastName: z.string().nullable().meta({ description: 'The last name.' }),
    role: z.string().meta({ description: '`user`, or `admin` for an operator of this instance.' }),
    avatar: z.string().nullable().meta({ description: 'The URL of a picture.' }),
    preferredLocale: z.string().nullable().meta({ description: 'A language tag (BCP 47).' }),
    emailVerified: timestamp
      .nullable()
      .meta({ description: 'When the email address was verified. Null if it was not.' }),
    createdAt: timestamp.meta({ description: 'When the account was created.' }),
    updatedAt: timestamp.meta({ description: 'When the account was last changed.' }),
  })
  .meta({ id: 'Account', description: 'The account behind a credential.' });
