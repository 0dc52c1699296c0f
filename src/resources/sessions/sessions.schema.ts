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

/** A method by which the user of a session has proved who they are, and when they last did. */
const provenMethod = z.object({
  method: z.string().meta({ description: '`password`, `link` (by email) or `passkey`. More can be added.' }),
  at: timestamp,
});

/** A session with its last use and what it proves, for the console. */
export const sessionWithUseOutput = z.object({
  ...sessionOutput.shape,
  /** To the minute; null before the first batch is written. */
  lastUsedAt: timestamp.nullable(),
  lastAddress: z.string().nullable(),
  /** The latest proof first; empty if unknown. */
  methods: z.array(provenMethod),
  /** The names of the first-party applications whose tokens belong to it. */
  applications: z.array(z.string()),
});
