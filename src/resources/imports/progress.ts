import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Services } from '../../app-services.ts';
import { ImportRun } from '../../entities/index.ts';
import { record } from '../../events/record.ts';
import { transaction } from '../../transactions/transaction.ts';
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

export const toProgress = ({ id, stage, line, counts, reportBytes, batches }: ImportRun): Progress => ({
  id,
  stage: STAGES.find((name) => name === stage) ?? STAGES[0],
  line,
  counts,
  reportBytes: Number(reportBytes),
  batches,
});

/** Finds the unfinished import of a file, or begins one, with its only event: its rows have none. */
export const openImport = ({ db }: Services, { fingerprint, rows }: { fingerprint: string; rows: number }) =>
  transaction(db, async (tx): Promise<{ progress: Progress; isResumed: boolean }> => {
    const found = await tx.findOne(
      ImportRun,
      { fingerprint, finishedAt: null, operatorKeyId: null },
      { orderBy: { id: 'desc' } },
    );
    if (found !== null) {
      return { progress: toProgress(found), isResumed: true };
    }
    const run = tx.create(ImportRun, {
      fingerprint,
      stage: STAGES[0],
      line: 0,
      counts: {},
      reportBytes: 0n,
      batches: 0,
    });
    record(tx, 'operator.import_started', { importId: run.id, number: rows });
    return { progress: newProgress(run.id), isResumed: false };
  });

/**
 * Moves an import forward in the transaction of its rows. The number of batches is a condition, so that of two processes
 * with the same file only one imports each row.
 */
export async function advance(
  tx: EntityManager,
  { id, stage, line, counts, reportBytes, batches }: Progress,
): Promise<void> {
  const moved = await tx.execute<unknown[]>(
    `update import_run set stage = ?, line = ?, counts = ?::jsonb, report_bytes = ?, batches = ?, updated_at = now()
     where id = ? and finished_at is null and batches = ? - 1 returning 1 as moved`,
    [stage, line, JSON.stringify(counts), reportBytes, batches, id, batches],
  );
  if (moved.length === 0) throw new ImportRunningError('another process is importing the same rows');
}

export const finishImport = ({ db }: Services, id: string): Promise<number> =>
  db.em().nativeUpdate(ImportRun, { id }, { finishedAt: new Date() });
