import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Services } from '../../service/services.ts';
import { ImportRun } from '../../entities/index.ts';
import { command } from '../../db/query.ts';
import { change } from '../../transactions/change.ts';
import type { Change } from '../../transactions/steps.ts';
import { readFile, readLines } from './lines.ts';
import { STAGES, type Stage } from './rows.ts';

/** How far an import has got. */
export type Progress = {
  readonly id: string;
  readonly stage: Stage;
  readonly line: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly reportBytes: number;
  readonly batches: number;
};

/** Another process continues the import. */
export class ImportRunningError extends Error {}

/** Returns the SHA-256 of a file and the number of its lines that are not empty. */
export async function scanFile(path: string): Promise<{ fingerprint: string; rows: number; lines: number }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer); // no encoding is set
  let [rows, lines] = [0, 0];
  for await (const { number } of readLines(readFile(path))) [rows, lines] = [rows + 1, number];
  return { fingerprint: hash.digest('hex'), rows, lines };
}

export const newProgress = (id: string): Progress => ({
  id,
  stage: STAGES[0],
  line: 0,
  counts: {},
  reportBytes: 0,
  batches: 0,
});

/** The progress as it is stored. */
export type Stored = Omit<Progress, 'stage' | 'reportBytes'> & {
  readonly stage: string;
  readonly reportBytes: bigint | string;
};

export const toProgress = ({ id, stage, line, counts, reportBytes, batches }: Stored): Progress => ({
  id,
  stage: STAGES.find((name) => name === stage) ?? STAGES[0],
  line,
  counts,
  reportBytes: Number(reportBytes),
  batches,
});

type File = { readonly fingerprint: string; readonly rows: number; readonly isSilent: boolean };

/** Finds the unfinished import of a file, or begins one. One that continues is as silent as this command says. */
export const openImport = ({ db }: Services, { fingerprint, rows, isSilent }: File) =>
  change(
    db,
    'system',
    { on: 'installation', requires: 'nothing' },
    async (tx): Promise<{ progress: Progress; isResumed: boolean }> => {
      const found = await tx.em.findOne(
        ImportRun,
        { fingerprint, finishedAt: null, operatorKeyId: null },
        { orderBy: { id: 'desc' } },
      );
      if (found !== null) {
        found.isSilent = isSilent;
        return { progress: toProgress(found), isResumed: true };
      }
      const run = tx.em.create(ImportRun, {
        fingerprint,
        isSilent,
        stage: STAGES[0],
        line: 0,
        counts: {},
        reportBytes: 0n,
        batches: 0,
      });
      tx.record('operator.import_started', { importId: run.id, number: rows });
      return { progress: newProgress(run.id), isResumed: false };
    },
  );

/**
 * Moves an import forward in the transaction of its rows. The number of batches is a condition, so that of two processes
 * with the same file only one imports each row.
 */
export async function advance(tx: Change, { id, stage, line, counts, reportBytes, batches }: Progress): Promise<void> {
  const values = [id, stage, line, JSON.stringify(counts), reportBytes, batches];
  const [moved] = await tx.run([[moveOn, values]]);
  if (moved.length === 0) throw new ImportRunningError('another process is importing the same rows');
}

const moveOn = command<{ moved: number }>(
  'import_run_update_progress',
  `update import_run set stage = $2, line = $3, counts = $4::jsonb, report_bytes = $5, batches = $6::int, updated_at = now()
   where id = $1 and finished_at is null and batches = $6::int - 1 returning 1 as moved`,
);

const endRun = command<{ is_dry_run: boolean; is_silent: boolean; counts: Progress['counts'] }>(
  'import_run_update_finished',
  `update import_run set finished_at = now(), updated_at = now(), failure = $2,
     failure_detail = 'After line ' || line || ' of the rows of type ' || stage || ': ' || $3::text
   where id = $1 and finished_at is null returning is_dry_run, is_silent, counts`,
);

const deleteContent = command<never>('import_content_delete', 'delete from import_content where import_id = $1');

/**
 * Ends an import with its event, unless it has ended, and deletes what was uploaded.
 * @param failure why it failed, and what of the error tells more than the position
 */
export const endImport = (
  { db }: Services,
  id: string,
  failure?: { readonly code: string; readonly detail?: string },
) =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, async ({ run, record: note }) => {
    const [[ended]] = await run([
      [endRun, [id, failure?.code ?? null, failure?.detail ?? null]],
      [deleteContent, [id]],
    ]);
    if (ended === undefined || ended.is_dry_run) return;
    const number = STAGES.reduce((sum, stage) => sum + (ended.counts[stage] ?? 0), 0);
    const fields = { importId: id, number, isSilent: ended.is_silent };
    if (failure === undefined) note('import.completed', fields);
    else note('import.failed', { ...fields, reason: failure.code });
  });
