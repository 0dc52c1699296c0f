import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import type { OperatorPrincipal } from '../../auth/principal.ts';
import { runInBackground } from '../../db/caller.ts';
import { command } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../errors.ts';
import { record } from '../../events/record.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { withOperator } from '../../transactions/with-operator.ts';
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
 * time, so that a client that repeats a request whose response it lost starts no second one.
 * @returns the id of the import
 * @throws import_running, body_too_large
 */
export async function receiveImport(
  { services, operator }: Uploader,
  isDryRun: boolean,
  body: AsyncIterable<Buffer>,
): Promise<string> {
  const { db } = services;
  const id = await withOperator(db, operator, (tx) => openUpload(tx, operator, isDryRun));
  try {
    const { lines, hasRows } = await storeParts(services, id, body);
    if (!hasRows) throw invalidInput('', 'A body with rows is required.', 'required');
    await withOperator(db, operator, async (tx) => {
      const received = await tx.execute<unknown[]>(
        'update import_run set received_at = now(), updated_at = now(), lines = ? where id = ? and received_at is null returning 1 as received',
        [lines, id],
      );
      if (received.length === 0) throw new ProblemError('service_unavailable');
      await enqueue(tx, 'importUpload', { importId: id }, importKey(id));
      if (!isDryRun) record(tx, 'operator.import_started', { importId: id, number: lines });
    });
    return id;
  } catch (error) {
    // Also without the client, who may have hung up. If it fails, the cleanup deletes the upload.
    await runInBackground(() => db.run(discardUpload, [id])).catch(() => undefined);
    throw error;
  }
}

export const importKey = (id: string): string => `import:${id}`;

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

/** Stores the body in parts. @returns the number of its lines, and whether one of them is not empty */
async function storeParts({ db }: Services, id: string, body: AsyncIterable<Buffer>) {
  let [parts, size, number, lines, isOpen] = [[] as Buffer[], 0, 0, 0, false];
  const store = async () => {
    await db.run(storePart, [id, number, Buffer.concat(parts, size)]);
    [parts, size, number] = [[], 0, number + 1];
  };
  const stored = (async function* () {
    for await (const chunk of body) {
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
  return { lines: lines + (isOpen ? 1 : 0), hasRows: isWithoutRows !== true };
}
