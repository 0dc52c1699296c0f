import { ProblemError } from '../../problems/error.ts';
import { parseIdempotencyKey } from '../../procedures/idempotency-key.ts';
import { operatorKeyProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { cancelImport } from './cancel.service.ts';
import { readImport, readImportReport } from './imports.queries.ts';
import {
  createImportInput,
  IMPORT_ID,
  importIdInput,
  importInput,
  importReport,
  importSummary,
} from './imports.schema.ts';
import { receiveImport, UPLOAD_BYTES_MAX } from './upload.service.ts';

/** Rows create accounts, teams and their members, and set plans. */
const importProcedure = operatorKeyProcedure('accounts:write', ['teams:write', 'billing:write']);

const summary = {
  id: IMPORT_ID,
  status: 'running',
  isDryRun: false,
  isSilent: false,
  failure: null,
  failureDetail: null,
  createdAt: '2026-11-21T09:30:00.000Z',
  finishedAt: null,
  lines: 200_000,
  stage: 'account',
  line: 48_200,
  imported: { accounts: 48_198, teams: 0, memberships: 0, apiKeys: 0 },
  existing: 0,
  refused: 1,
};
const refusal = {
  number: 1,
  line: 17,
  type: 'account',
  externalId: 'u17',
  code: 'email_taken',
  detail: 'Another account has the email address.',
};

/** Imports of uploaded rows, for the operator's backend. */
export const importsOperatorRouter = router({
  createImport: importProcedure
    .meta(
      endpoint('createImport', 'POST /operator/v1/imports', {
        summary: 'Import accounts, teams, memberships and API keys',
        description:
          'The body has one JSON object per line (`application/x-ndjson`), as `roster import` takes it, and at most 64 MiB. It is stored, and imported by a job after the response. An operator key has one import at a time. What exists is left as it is. Query parameters other than `dryRun` and `silent` are refused. What it creates is in the feed, as changes of the operator, and its end is `import.completed` or `import.failed`. While the first upload with an `Idempotency-Key` is received, another is `import_running`. If the key is revoked, its import ends.',
        returns: 'The import, which is queued.',
        effect: 'widens',
        status: 202,
        errors: ['import_running'],
        upload: {
          type: 'application/x-ndjson',
          maxBytes: UPLOAD_BYTES_MAX,
          example:
            '{"type":"account","externalId":"u1","email":"ann@example.com","emailVerified":true}\n{"type":"team","externalId":"t1","name":"Acme","owner":"u1"}\n',
        },
        example: {
          answer: { ...summary, status: 'queued', line: 0, imported: { ...summary.imported, accounts: 0 }, refused: 0 },
        },
      }),
    )
    .input(createImportInput)
    .output(importSummary)
    .mutation(({ ctx: { services, operator, upload: body, idempotencyKey: header }, input: { dryRun, silent } }) => {
      if (body === undefined)
        throw new ProblemError('unsupported_media_type', 'Send the rows to POST /operator/v1/imports.');
      const idempotencyKey = header === undefined ? undefined : parseIdempotencyKey(header);
      return receiveImport({ services, operator }, { isDryRun: dryRun, isSilent: silent, body, idempotencyKey });
    }),

  getImport: importProcedure
    .meta(
      endpoint('getImport', 'GET /operator/v1/imports/{importId}', {
        summary: 'Read the progress and the report of an import',
        description:
          'Only imports of the same operator key. Reports are kept for 30 days. A dry run that is interrupted starts over, and its report too.',
        returns: 'The import, with a page of the rows that were refused.',
        errors: ['import_not_found'],
        example: { answer: { ...summary, refusals: [refusal], next: null } },
      }),
    )
    .input(importInput)
    .output(importReport)
    .query(({ ctx: { services, operator }, input }) => readImportReport(services.db, operator.credentialId, input)),

  cancelImport: importProcedure
    .meta(
      endpoint('cancelImport', 'POST /operator/v1/imports/{importId}/cancel', {
        summary: 'Cancel an import',
        description:
          'After the response no row is imported, and the key can upload again. What was imported until then stays. An import that has ended stays as it is. Only imports of the same operator key.',
        returns: 'The import.',
        effect: 'none',
        errors: ['import_not_found'],
        example: { answer: { ...summary, status: 'canceled', failure: 'canceled', finishedAt: summary.createdAt } },
      }),
    )
    .input(importIdInput)
    .output(importSummary)
    .mutation(async ({ ctx: { services, operator }, input: { importId } }) => {
      await cancelImport(services.db, { operator }, importId, operator.credentialId);
      return readImport(services.db, operator.credentialId, importId);
    }),
});
