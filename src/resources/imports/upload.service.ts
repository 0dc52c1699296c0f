import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import type { Services } from '../../app-services.ts';
import type { OperatorPrincipal } from '../../auth/principal.ts';
import { runInBackground } from '../../db/caller.ts';
import type { Database } from '../../db/database.ts';
import { command } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { hasAnswer, runOnce } from '../../transactions/idempotent.ts';
import { withOperator } from '../../transactions/with-operator.ts';
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

type Uploader = { readonly services: Services; readonly operator: OperatorPrincipal };
type ImportUpload = {
  readonly isDryRun: boolean;
  readonly body: AsyncIterable<Buffer>;
  readonly idempotencyKey: string | undefined;
};
type Import = z.infer<typeof importSummary>;

const storePart = command<object>(
  'store_import_part',
  `with stored as (insert into import_content (import_id, number, bytes) values ($1, $2, $3))
   update import_run set updated_at = now() where id = $1`,
);

const discardUpload = command<object>(
  'discard_import_upload',
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
  const { isDryRun, body, idempotencyKey } = upload;
  const { credentialId } = operator;
  const call = idempotencyKey === undefined ? null : { credentialId, operation: 'createImport', key: idempotencyKey };
  const runCall = async (fingerprint: string, work: (db: Database) => Promise<Import>) => {
    if (call === null) return work(db);
    const compared = { ...call, input: { isDryRun, fingerprint }, teamId: undefined, secretOf: undefined };
    return (await runOnce(db, compared, work)) as Import; // what the work of a call returned
  };

  const id = await withOperator(db, operator, async (tx) =>
    call !== null && (await hasAnswer(tx, call)) ? null : openUpload(tx, operator, isDryRun),
  );
  // Nothing is stored, so nothing can be imported if the key has been deleted by then.
  if (id === null) return runCall(await readFingerprint(body), () => Promise.reject(unavailable()));
  try {
    const { lines, hasRows, fingerprint } = await storeParts(services, id, body);
    if (!hasRows) throw invalidInput('', 'A body with rows is required.', 'required');
    const accepted = await runCall(fingerprint, async (joined) => {
      await withOperator(joined, operator, (tx) => queueImport(tx, { id, lines, isDryRun }));
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

/** Marks an upload as complete, and queues its import. */
async function queueImport(
  tx: EntityManager,
  { id, lines, isDryRun }: { readonly id: string; readonly lines: number; readonly isDryRun: boolean },
): Promise<void> {
  const received = await tx.execute<unknown[]>(
    'update import_run set received_at = now(), updated_at = now(), lines = ? where id = ? and received_at is null returning 1 as received',
    [lines, id],
  );
  if (received.length === 0) throw unavailable();
  await enqueue(tx, 'importUpload', { importId: id }, importKey(id));
  if (!isDryRun) record(tx, 'operator.import_started', { importId: id, number: lines });
}

export const importKey = (id: string): string => `import:${id}`;

/** Returns the SHA-256 of a body, without storing it. */
async function readFingerprint(body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

async function openUpload(tx: EntityManager, { credentialId }: OperatorPrincipal, isDryRun: boolean): Promise<string> {
  await tx.execute(
    `delete from import_run where operator_key_id = ? and received_at is null and updated_at < now() - interval '${BROKEN_AFTER}'`,
    [credentialId],
  );
  // Waits for a concurrent upload of the key, which is then found below.
  const [opened] = await tx.execute<{ id: string }[]>(
    `insert into import_run (id, created_at, updated_at, fingerprint, stage, line, counts, report_bytes, batches, operator_key_id, is_dry_run)
     values (?, now(), now(), '', ?, 0, '{}', 0, 0, ?, ?)
     on conflict (operator_key_id) where finished_at is null do nothing returning id`,
    [newId('imp'), STAGES[0], credentialId, isDryRun],
  );
  if (opened !== undefined) return opened.id;
  const [running] = await tx.execute<{ id: string }[]>(
    'select id from import_run where operator_key_id = ? and finished_at is null',
    [credentialId],
  );
  throw new ProblemError('import_running', `The import ${running?.id} of this operator key has not ended.`);
}

/** Stores the body in parts. @returns the number of its lines, whether one of them is not empty, and the SHA-256 */
async function storeParts({ db }: Services, id: string, body: AsyncIterable<Buffer>) {
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
