import { z } from 'zod';
import { timestamp } from '../../procedures/fields.ts';

const deviceType = z.string().nullable().meta({
  id: 'DeviceType',
  description: '`desktop`, `mobile`, `tablet`, `tv` or `bot`. More can be added. Null if the browser does not name it.',
});

export const sessionOutput = z
  .object({
    id: z.string().meta({ description: 'The id of the session.' }),
    createdAt: timestamp.meta({ description: 'When the account signed in.' }),
    expiresAt: timestamp.meta({ description: 'When the session ends if it is not used.' }),
    isCurrentSession: z.boolean().meta({ description: 'False for every bearer credential.' }),
    authenticationType: z
      .string()
      .nullable()
      .meta({ description: 'How the account signed in: `password`, `passkey` or `email_link`. More can be added.' }),
    country: z.string().nullable().meta({ description: 'The country of the IP address (ISO 3166-1 alpha-2).' }),
    city: z.string().nullable().meta({ description: 'The city of the IP address.' }),
    browser: z.string().nullable().meta({ description: 'The name of the browser.' }),
    os: z.string().nullable().meta({ description: 'The name of the operating system.' }),
    deviceType,
  })
  .meta({ id: 'Session', description: 'A sign-in session of the account.' });

/** A session with its last use, for the console. */
export const sessionWithUseOutput = z.object({
  ...sessionOutput.shape,
  /** To the minute; null before the first batch is written. */
  lastUsedAt: timestamp.nullable(),
  lastAddress: z.string().nullable(),
});
