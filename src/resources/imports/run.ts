import type { Change } from '../../transactions/steps.ts';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isForeignKeyViolation, isUniqueViolation } from '../../db/errors.ts';
import type { Services } from '../../service/services.ts';
import { change } from '../../transactions/change.ts';
import { importAccounts } from './accounts.ts';
import { importApiKeys } from './api-keys.ts';
import { isRejection, toRejection } from './rejections.ts';
import { newOutcome, type Batch, type DryRun, type Numbered, type Outcome } from './batch.ts';
import { importMemberships } from './memberships.ts';
import { advance, type Progress } from './progress.ts';
import { readLines, type Source } from './lines.ts';
import { externalId } from '../operator/references.ts';
import { isRefusal, readRow, readType, STAGES, type Refusal, type Stage } from './rows.ts';
import { importTeams } from './teams.ts';

const APPLY: { readonly [S in Stage]: (batch: Batch, rows: readonly Numbered<S>[]) => Promise<Outcome> } = {
  account: importAccounts,
  team: importTeams,
  membership: importMemberships,
  apiKey: importApiKeys,
};

/** Rows of a transaction, adapted so that it takes about as long as it should beside a running service. */
const ROWS = { first: 200, min: 50 };
const BATCH_MS = { min: 40, max: 100 };
/** The share of the time in which the database gets a rest. */
const REST = 0.25;

const RETRIES_MAX = 5;

/** More rows that the database rejects are no fault of single rows. */
const REJECTIONS_MAX = 100;

/** Lines that are parsed before requests of the same process get their turn. */
const LINES_IN_TURN = 50;

export type RefusedRow = { readonly line: number; readonly type: Stage | null; readonly externalId?: string } & Refusal;

type Run = {
  readonly services: Services;
  readonly source: Source;
  readonly progress: Progress;
  readonly isDryRun: boolean;
  /** Whether the rows of accounts and teams that the import creates have no events. */
  readonly isSilent: boolean;
  /** Whether the progress has a row of its own, which each batch updates. */
  readonly isStored: boolean;
  /** The most rows of a batch: what their validation and insertion keeps the process busy for. */
  readonly rowsMax: number;
  /** Writes rows to the report, which is committed with them. @returns the size of the report */
  readonly report: (rows: readonly RefusedRow[], tx: Change, progress: Progress) => Promise<number>;
  /** Runs first in each transaction, and throws to end the import. */
  readonly begin?: (tx: Change) => Promise<void>;
  /** Called after each commit. Throws or rejects to interrupt the import, which can be continued. */
  readonly onProgress: (progress: Progress) => void | Promise<void>;
};

type Pending = { readonly rows: Numbered<Stage>[]; readonly refused: RefusedRow[] };

/** Imports a file from where its progress is. Every batch commits the rows, their count and the position together. */
export async function runImport(run: Run): Promise<Progress> {
  const dryRun = run.isDryRun ? createDryRun() : null;
  let { progress } = run;
  let size = ROWS.first;
  for (const stage of STAGES.slice(STAGES.indexOf(progress.stage))) {
    if (stage !== progress.stage) progress = { ...progress, stage, line: 0 };
    let pending: Pending = { rows: [], refused: [] };
    let last = progress.line;
    const commit = async (): Promise<void> => {
      const startedAt = performance.now();
      progress = await commitRows(run, dryRun, { ...progress, stage }, pending, last);
      pending = { rows: [], refused: [] };
      const elapsed = performance.now() - startedAt;
      if (elapsed > BATCH_MS.max) size = Math.max(ROWS.min, Math.round(size / 2));
      else if (elapsed < BATCH_MS.min) size = Math.min(run.rowsMax, Math.round(size * 1.5));
      await sleep(elapsed * REST);
    };
    let lines = 0;
    for await (const line of readLines(run.source)) {
      if ((lines += 1) % LINES_IN_TURN === 0) await setImmediate();
      if (line.number <= progress.line) continue;
      last = line.number;
      addLine(pending, stage, line);
      if (pending.rows.length + pending.refused.length >= size) await commit();
    }
    await commit();
  }
  return progress;
}

const createDryRun = (): DryRun => ({
  account: new Set(),
  team: new Set(),
  membership: new Set(),
  apiKey: new Set(),
  email: new Set(),
  owner: new Set(),
  role: new Set(),
});

/** Adds the row of a line if it is of the stage. Lines without a type are refused in the first stage. */
function addLine(pending: Pending, stage: Stage, line: Parameters<typeof readType>[0]): void {
  const typed = readType(line);
  if (isRefusal(typed)) {
    if (stage === STAGES[0]) pending.refused.push({ line: line.number, type: null, ...typed });
    return;
  }
  if (typed.stage !== stage) return;
  const row = readRow(stage, typed.value);
  if (isRefusal(row)) pending.refused.push({ line: line.number, type: stage, ...nameOf(typed.value), ...row });
  else pending.rows.push({ line: line.number, row });
}

/** Returns the external id of a row, if reports can store it. */
const nameOf = (value: object): { externalId?: string } => {
  const id = 'externalId' in value ? externalId.safeParse(value.externalId).data : undefined;
  return id === undefined ? {} : { externalId: id };
};

/**
 * Commits rows, and refuses those that the database rejects: it finds them by halving the batch, so that all others are
 * imported.
 * @throws the error of the database if too many rows are rejected
 */
async function commitRows(
  run: Run,
  dryRun: DryRun | null,
  progress: Progress,
  pending: Pending,
  line: number,
): Promise<Progress> {
  const { rows, refused } = pending;
  let done: Progress;
  try {
    done = await commitBatch(run, dryRun, progress, pending, line);
  } catch (error) {
    const [first] = rows;
    // A dry run inserts nothing, so its rows are no cause.
    if (first === undefined || run.isDryRun || !isRejection(error)) throw error;
    if (rows.length > 1) {
      const middle = rows[Math.floor((rows.length - 1) / 2)]?.line ?? first.line;
      const half = (isOf: (at: { readonly line: number }) => boolean): Pending => ({
        rows: rows.filter(isOf),
        refused: refused.filter(isOf),
      });
      const reached = await commitRows(
        run,
        dryRun,
        progress,
        half((at) => at.line <= middle),
        middle,
      );
      return commitRows(
        run,
        dryRun,
        reached,
        half((at) => at.line > middle),
        line,
      );
    }
    const rejections = (progress.counts['rejected'] ?? 0) + 1;
    if (rejections > REJECTIONS_MAX) throw error;
    const row = toRefusedRow(progress.stage, rows, { line: first.line, refusal: toRejection(error) });
    const counted = { ...progress, counts: { ...progress.counts, rejected: rejections } };
    done = await commitBatch(run, dryRun, counted, { rows: [], refused: [...refused, row] }, line);
  }
  await run.onProgress(done);
  return done;
}

async function commitBatch(
  { services, isSilent, isStored, report, begin }: Run,
  dryRun: DryRun | null,
  progress: Progress,
  { rows, refused }: Pending,
  line: number,
): Promise<Progress> {
  const apply = APPLY[progress.stage] as (batch: Batch, rows: readonly Numbered<Stage>[]) => Promise<Outcome>; // `rows` are of the stage
  const attempt = (): Promise<Progress> =>
    change(services.db, 'system', { on: 'installation', requires: 'nothing' }, async (tx) => {
      await begin?.(tx);
      const outcome =
        rows.length === 0 ? newOutcome() : await apply({ tx, services, importId: progress.id, isSilent, dryRun }, rows);
      const all = [...refused, ...outcome.refused.map((entry) => toRefusedRow(progress.stage, rows, entry))];
      const counts = { ...progress.counts };
      counts[progress.stage] = (counts[progress.stage] ?? 0) + outcome.created;
      counts['existing'] = (counts['existing'] ?? 0) + outcome.existing;
      counts['refused'] = (counts['refused'] ?? 0) + all.length;
      all.sort((a, b) => a.line - b.line);
      const next = {
        ...progress,
        line,
        counts,
        reportBytes: await report(all, tx, progress),
        batches: progress.batches + 1,
      };
      if (isStored) await advance(tx, next);
      return next;
    });
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      // Someone signed up with the email address of a row, or deleted what it refers to; the next attempt sees it.
      const isOvertaken = isUniqueViolation(error) || isForeignKeyViolation(error);
      if (!isOvertaken || retries === RETRIES_MAX) throw error;
    }
  }
}

function toRefusedRow(
  type: Stage,
  rows: readonly Numbered<Stage>[],
  { line, refusal }: Outcome['refused'][number],
): RefusedRow {
  const found = rows.find((candidate) => candidate.line === line);
  return { line, type, ...(found === undefined ? {} : nameOf(found.row)), ...refusal };
}
