import { z } from 'zod';
import { openEnum } from '../../open-enum.ts';
import { resourceId, timestamp } from '../../procedures/fields.ts';
import { STAGES } from './rows.ts';

export const IMPORT_ID = 'imp_0cn7u8m1e4gqf97b0tsl6kd2pj';

export const createImportInput = z.object({
  dryRun: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether to check every row and import nothing.', example: true }),
  silent: z.boolean().default(false).meta({
    description: 'Whether the rows of accounts and teams that the import creates have no events.',
    example: true,
  }),
});

export const importIdInput = z.object({
  importId: resourceId.meta({ description: 'The id of an import.', example: IMPORT_ID }),
});

export const importInput = importIdInput.extend({
  after: z
    .int()
    .min(0)
    .max(1e9)
    .default(0)
    .meta({ description: 'The `number` of the last refused row that you have; 0 for the first page.', example: 100 }),
  limit: z
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .meta({ description: 'How many refused rows the response has at most.', example: 100 }),
});

export const STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

const count = (description: string) => z.int().meta({ description });

const summary = {
  id: z.string().describe('The id of the import.'),
  status: openEnum(STATUSES).meta({
    description: 'An import is `completed` with refused rows too. More can be added.',
  }),
  isDryRun: z.boolean().meta({ description: 'Whether nothing is imported; `imported` is what would have been.' }),
  isSilent: z.boolean().meta({ description: 'Whether accounts and teams that it created have no events.' }),
  failure: z.string().nullable().meta({
    description:
      'Why it failed: `key_revoked`, `key_expired`, `internal_error` or `canceled`. What was imported until then stays.',
  }),
  failureDetail: z.string().nullable().meta({
    description: 'After which line an `internal_error` ended the import, and the error, for humans. Else null.',
  }),
  createdAt: timestamp.describe('When it was uploaded.'),
  finishedAt: timestamp.nullable().describe('When it ended. Null before.'),
  lines: count('The lines of the upload.'),
  stage: openEnum(STAGES).meta({
    description: 'The type of the rows that are imported now. Types follow one another. More can be added.',
  }),
  line: count('The last line of this type that is committed.'),
  imported: z
    .object({
      accounts: count('Accounts that were created.'),
      teams: count('Teams that were created.'),
      memberships: count('Memberships that were created, without those of owners.'),
      apiKeys: count('API keys that were created.'),
    })
    .meta({ description: 'What was created up to now.' }),
  existing: count('Rows whose account, team, membership or key exists already.'),
  refused: count('Rows that were refused.'),
};

export const importSummary = z
  .object(summary)
  .meta({ id: 'Import', description: 'How far the import of an upload has got.' });

export const importReport = z
  .object({
    ...summary,
    refusals: z
      .array(
        z.object({
          number: count('Its position in the report.'),
          line: count('Its line in the upload.'),
          type: openEnum(STAGES).nullable().describe('The type of the row, if it was read. More can be added.'),
          externalId: z.string().nullable().describe('The external id in the row, if it was read.'),
          code: z.string().meta({ description: 'The reason, such as `email_taken`. More can be added.' }),
          detail: z.string().describe('The reason, for humans.'),
        }),
      )
      .meta({ description: 'Refused rows, in the order in which they were refused.' }),
    next: z
      .int()
      .nullable()
      .meta({ description: '`after` of the next page. Null if there are no more refused rows up to now.' }),
  })
  .meta({ id: 'ImportReport', description: 'An import with a page of the rows that were refused.' });
