import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Services } from '../../service/services.ts';
import type { OperatorPrincipal } from '../../auth/principal.ts';
import { runInBackground } from '../../db/turns/request-caller.ts';
import type { Database } from '../../db/database.ts';
import { command, query } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { hasAnswer, runOnce } from '../../transactions/idempotent.ts';
import { change } from '../../transactions/change.ts';
import type { Change } from '../../transactions/steps.ts';
import { readImport } from './imports.queries.ts';
import type { importSummary } from './imports.schema.ts';
import { readLines } from './lines.ts';
import { STAGES } from './rows.ts';

/** The largest upload. Its content is stored until the import ends. */
export const UPLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** A row has at least so many bytes, also the shortest one that can be imported. Bounds the report of refused rows. */
const LINE_BYTES_MIN = 32;
const LINES_MAX = UPLOAD_BYTES_MAX / LINE_BYTES_MIN;

const PART_BYTES = 512 * 1024;
const NEWLINE = 0x0a;

/** An upload without a part for so long was broken by a crash. Longer than a request can wait for its body. */
const BROKEN_AFTER = '2 minutes';

const BY_OPERATOR = { on: 'installation', requires: 'operator' } as const;

type Uploader = { readonly services: Services; readonly operator: OperatorPrincipal };
type ImportUpload = {
  readonly isDryRun: boolean;
  readonly isSilent: boolean;
  readonly body: AsyncIterable<Buffer>;
  readonly idempotencyKey: string | undefined;
};
type Import = z.infer<typeof importSummary>;

const storePart = command<object>(
  'import_content_insert',
  `with stored as (insert into import_content (import_id, number, bytes) values ($1, $2, $3))
   update import_run set updated_at = now() where id = $1`,
);

const discardUpload = command<object>(
  'import_run_delete_upload',
  'delete from import_run where id = $1 and received_at is null',
);

/**
 * Stores the rows of an upload in parts, and queues their import with the last one. An operator key has one import at a
 * time. With an `Idempotency-Key`, an upload that was accepted is only compared when it is repeated.
 * @returns the import, which is queued; that of the first upload with the `Idempotency-Key`
 * @throws import_running, body_too_large, idempotency_key_reused
 */
export async function receiveImport(uploader: Uploader, upload: ImportUpload): Promise<Import> {
  const { services, operator } = uploader;
  const { db } = services;
  const { isDryRun, isSilent, body, idempotencyKey } = upload;
  const { credentialId } = operator;
  const call = idempotencyKey === undefined ? null : { credentialId, operation: 'createImport', key: idempotencyKey };
  const runCall = async (fingerprint: string, work: (db: Database) => Promise<Import>) => {
    if (call === null) return work(db);
    const compared = {
      ...call,
      input: { isDryRun, ...(isSilent && { isSilent }), fingerprint },
      turn: undefined,
      secretOf: undefined,
    };
    return (await runOnce(db, compared, work)) as Import; // what the work of a call returned
  };

  const id = await change(db, { operator }, BY_OPERATOR, async (tx) =>
    call !== null && (await hasAnswer(tx, call)) ? null : openUpload(tx, operator, upload),
  );
  // Nothing is stored, so nothing can be imported if the key has been deleted by then.
  if (id === null) return runCall(await readFingerprint(body), () => Promise.reject(unavailable()));
  try {
    const { lines, hasRows, fingerprint } = await storeParts(services.db, id, body);
    if (!hasRows) throw invalidInput('', 'A body with rows is required.', 'required');
    const accepted = await runCall(fingerprint, async (joined) => {
      await change(joined, { operator }, BY_OPERATOR, (tx) => queueImport(tx, { id, lines, isDryRun }));
      return readImport(joined, credentialId, id);
    });
    // An equal upload was accepted since the look-up of the key, and has ended; or almost 24 hours ago.
    if (accepted.id !== id) await db.run(discardUpload, [id]);
    return accepted;
  } catch (error) {
    // Also without the client, who may have hung up. If it fails, the cleanup deletes the upload.
    await runInBackground(() => db.run(discardUpload, [id])).catch(() => undefined);
    throw error;
  }
}

const unavailable = () => new ProblemError('service_unavailable');

const noteReceived = command<{ received: number }>(
  'import_run_update_received',
  `update import_run set received_at = now(), updated_at = now(), lines = $2
   where id = $1 and received_at is null returning 1 as received`,
);

/** Marks an upload as complete, and queues its import. */
async function queueImport(
  tx: Change,
  { id, lines, isDryRun }: { readonly id: string; readonly lines: number; readonly isDryRun: boolean },
): Promise<void> {
  const [received] = await tx.run([[noteReceived, [id, lines]]]);
  if (received.length === 0) throw unavailable();
  await enqueue(tx, 'importUpload', { importId: id }, importKey(id));
  if (!isDryRun) tx.record('operator.import_started', { importId: id, number: lines });
}

export const importKey = (id: string): string => `import:${id}`;

/** Returns the SHA-256 of a body, without storing it. */
async function readFingerprint(body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

const deleteBroken = command<never>(
  'import_run_delete_broken',
  `delete from import_run
   where operator_key_id = $1 and received_at is null and updated_at < now() - interval '${BROKEN_AFTER}'`,
);

/** Waits for a concurrent upload of the key, which then is the one that runs. */
const openRun = command<{ id: string }>(
  'import_run_insert',
  `insert into import_run (id, created_at, updated_at, fingerprint, stage, line, counts, report_bytes, batches, operator_key_id, is_dry_run, is_silent)
   values ($1, now(), now(), '', $2, 0, '{}', 0, 0, $3, $4::boolean, $5::boolean)
   on conflict (operator_key_id) where finished_at is null do nothing returning id`,
);

const runOfKey = query<{ id: string }>(
  'import_run_find_of_key',
  'select id from import_run where operator_key_id = $1 and finished_at is null',
);

async function openUpload(
  tx: Change,
  { credentialId }: OperatorPrincipal,
  { isDryRun, isSilent }: ImportUpload,
): Promise<string> {
  tx.later([deleteBroken, [credentialId]]);
  const values = [newId('imp'), STAGES[0], credentialId, String(isDryRun), String(isSilent)];
  const [[opened]] = await tx.run([[openRun, values]]);
  if (opened !== undefined) return opened.id;
  const [[running]] = await tx.run([[runOfKey, [credentialId]]]);
  throw new ProblemError('import_running', `The import ${running?.id} of this operator key has not ended.`);
}

/** Stores the body in parts. @returns the number of its lines, whether one of them is not empty, and the SHA-256 */
async function storeParts(db: Database, id: string, body: AsyncIterable<Buffer>) {
  let [parts, size, number, lines, isOpen] = [[] as Buffer[], 0, 0, 0, false];
  const store = async () => {
    await db.run(storePart, [id, number, Buffer.concat(parts, size)]);
    [parts, size, number] = [[], 0, number + 1];
  };
  const hash = createHash('sha256');
  const stored = (async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
      if (lines > LINES_MAX) throw new ProblemError('body_too_large', `The body must have at most ${LINES_MAX} lines.`);
      isOpen = chunk.at(-1) !== NEWLINE;
      parts.push(chunk);
      size += chunk.length;
      if (size >= PART_BYTES) await store();
      yield chunk;
    }
  })();
  // The first row answers the question; the rest is not divided into lines here.
  const { done: isWithoutRows } = await readLines(() => stored).next();
  while ((await stored.next()).done !== true);
  if (size > 0) await store();
  return { lines: lines + (isOpen ? 1 : 0), hasRows: isWithoutRows !== true, fingerprint: hash.digest('hex') };
}
