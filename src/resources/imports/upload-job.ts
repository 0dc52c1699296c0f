import type { Services } from '../../service/services.ts';
import { QUEUE_JOBS } from '../../db/queue-tables.ts';
import { command, query } from '../../db/query.ts';
import { OperatorKey } from '../../entities/index.ts';
import { runAs, type Actor } from '../../events/actor.ts';
import { enqueue, type Jobs } from '../../jobs/enqueue.ts';
import type { JobHelpers, TaskList } from '../../jobs/worker.ts';
import { errorSummary, type Log } from '../../telemetry/log.ts';
import { SECOND_MS } from '../../time.ts';
import { lockOperatorKeyShared } from '../../transactions/lock-steps.ts';
import type { Change } from '../../transactions/steps.ts';
import { change } from '../../transactions/change.ts';
import type { Source } from './lines.ts';
import { endImport, ImportRunningError, newProgress, toProgress, type Progress, type Stored } from './progress.ts';
import { describeFailure, isRejection } from './rejections.ts';
import { runImport, type RefusedRow } from './run.ts';
import { importKey } from './upload.service.ts';

/** Validating and inserting so many takes a few milliseconds, in which the process serves no request. */
const ROWS_MAX = 400;

/** Attempts without a commit between them. They take half an hour, because each waits longer than the one before. */
const ATTEMPTS_MAX = 8;

/** A job without such a sign is taken for one of a killed worker after three minutes. */
const SIGN_OF_LIFE_MS = 20 * SECOND_MS;

/** The worker stops; another one continues. */
class InterruptedError extends Error {}

/** The operator key was revoked or has expired. */
class KeyEndedError extends Error {
  readonly code: 'key_revoked' | 'key_expired';

  constructor(code: 'key_revoked' | 'key_expired') {
    super(code);
    this.code = code;
  }
}

type UploadRow = Stored & { operatorKeyId: string; isDryRun: boolean; isSilent: boolean };

const unfinishedUpload = query<UploadRow>(
  'import_run_find_upload',
  `select id, operator_key_id as "operatorKeyId", is_dry_run as "isDryRun", is_silent as "isSilent",
     stage, line, counts, report_bytes as "reportBytes", batches
   from import_run where id = $1 and operator_key_id is not null and received_at is not null and finished_at is null`,
);

const contentPart = query<{ bytes: string }>(
  'import_content_find',
  `select encode(bytes, 'base64') as bytes from import_content where import_id = $1 and number = $2`,
  { rows: 'many' },
);

/** The tasks of uploads, for the worker. */
export const importTasks = (services: Services, log: Log): TaskList => ({
  importUpload: (data, helpers) => importUpload(services, log, data as Jobs['importUpload'], helpers), // what `enqueue` wrote
});

/** Imports an upload from its last commit on. A dry run stores no rows, so it starts over. */
async function importUpload(
  services: Services,
  log: Log,
  { importId }: Jobs['importUpload'],
  helpers: JobHelpers,
): Promise<void> {
  const { db } = services;
  const [run] = await db.query(unfinishedUpload, [importId]);
  if (run === undefined) return;
  await runAs(operatorWith(services, run.operatorKeyId), () => importAs({ services, log, run }, helpers));
}

/** Rows are changes of the operator, made with the key that uploaded them. */
const operatorWith = ({ audit }: Services, credentialId: string): Actor => ({
  actorKind: 'operator_key',
  actorId: null,
  credentialId,
  address: null,
  requestId: null,
  clientRequestId: null,
  audit,
});

type Upload = {
  readonly services: Services;
  readonly log: Log;
  readonly run: UploadRow;
};

async function importAs({ services, log, run }: Upload, helpers: JobHelpers): Promise<void> {
  const { db } = services;
  const { id: importId, operatorKeyId, isDryRun, isSilent } = run;
  const life = signLife(helpers);
  try {
    const done = await runImport({
      services,
      source: readContent(services, importId),
      progress: isDryRun ? await startOver(services, run) : toProgress(run),
      isDryRun,
      isSilent,
      isStored: true,
      rowsMax: ROWS_MAX,
      begin: (tx) => requireKey(tx, operatorKeyId),
      report: writeRefusals,
      onProgress: () => life.sign(),
    });
    await endImport(services, importId);
    log.info({ importId, isDryRun, counts: done.counts }, 'import completed');
  } catch (error) {
    if (error instanceof ImportRunningError) return;
    if (error instanceof InterruptedError) {
      await change(db, 'system', { on: 'installation', requires: 'nothing' }, (tx) =>
        enqueue(tx, 'importUpload', { importId }, importKey(importId)),
      );
    } else if (error instanceof KeyEndedError) {
      await endImport(services, importId, { code: error.code });
    } else if (life.attempts() >= ATTEMPTS_MAX || isRejection(error)) {
      await endImport(services, importId, { code: 'internal_error', detail: describeFailure(error) });
      log.error({ importId, reason: errorSummary(error) }, 'import failed');
    } else {
      throw error;
    }
  }
}

/** Reads an upload part by part. */
const readContent = ({ db }: Services, importId: string): Source =>
  async function* () {
    for (let number = 0; ; number += 1) {
      const [part] = await db.query(contentPart, [importId, number]);
      if (part === undefined) return;
      yield Buffer.from(part.bytes, 'base64');
    }
  };

const deleteRefusals = command<never>('import_refusal_delete', 'delete from import_refusal where import_id = $1');

const insertRefusals = command<never>(
  'import_refusal_insert_many',
  `insert into import_refusal (import_id, number, line, type, external_id, code, detail)
   select $1, $2::int + row_number() over (), line, type, "externalId", code, detail
   from json_to_recordset($3::json) as refused(line int, type text, "externalId" text, code text, detail text)`,
);

/** Forgets what an interrupted dry run has found. */
const startOver = ({ db }: Services, run: UploadRow): Promise<Progress> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, (tx) => {
    tx.later([deleteRefusals, [run.id]]);
    return { ...newProgress(run.id), batches: run.batches };
  });

/** An import ends with its key: what a thief uploaded does not outlive the stolen key. */
async function requireKey(tx: Change, operatorKeyId: string): Promise<void> {
  await tx.run([[lockOperatorKeyShared, [operatorKeyId]]]);
  const key = await tx.em.findOne(OperatorKey, operatorKeyId);
  if (!key || key.revokedAt) throw new KeyEndedError('key_revoked');
  if (key.isExpired) throw new KeyEndedError('key_expired');
}

async function writeRefusals(
  rows: readonly RefusedRow[],
  tx: Change,
  { id, reportBytes: written }: Progress,
): Promise<number> {
  if (rows.length > 0) tx.later([insertRefusals, [id, written, JSON.stringify(rows)]]);
  return written + rows.length;
}

/** Keeps the job locked, and gives it all its attempts again once it has moved on. */
function signLife(helpers: JobHelpers) {
  const { job, abortSignal } = helpers;
  let signedAt: number | null = null;
  return {
    async sign(): Promise<void> {
      if (abortSignal?.aborted === true) throw new InterruptedError();
      if (signedAt !== null && performance.now() - signedAt < SIGN_OF_LIFE_MS) return;
      signedAt = performance.now();
      await helpers.query(
        `update ${QUEUE_JOBS} set locked_at = now(), attempts = 1 where id = $1 and locked_at is not null`,
        [job.id],
      );
    },
    /** Returns the number of attempts since the last commit. */
    attempts: () => (signedAt === null ? job.attempts : 1),
  };
}
