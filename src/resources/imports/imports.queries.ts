import type { z } from 'zod';
import { iso, isoOrNull, query, type QueryRunner } from '../../db/query.ts';
import { ProblemError } from '../../problems/error.ts';
import { CANCELED } from './cancel.service.ts';
import type { importReport, importSummary } from './imports.schema.ts';
import type { Stage } from './rows.ts';

type Row = {
  id: string;
  is_dry_run: boolean;
  is_silent: boolean;
  failure: string | null;
  failure_detail: string | null;
  created_at: string;
  finished_at: string | null;
  lines: number;
  stage: Stage;
  line: number;
  batches: number;
  counts: Partial<Record<Stage | 'existing' | 'refused', number>>;
};

/** Uploads that are not complete are nobody's yet. */
const importOfKey = query<Row>(
  'import_run_find_of_operator_key',
  `select id, is_dry_run, is_silent, failure, failure_detail, created_at, finished_at, lines, stage, line, batches, counts
   from import_run where id = $1 and operator_key_id = $2 and received_at is not null`,
);

type RefusalRow = {
  number: number;
  line: number;
  type: Stage | null;
  externalId: string | null;
  code: string;
  detail: string;
};

type ListedRow = Row & { operator_key_id: string | null; is_received: boolean };

const lastImports = query<ListedRow>(
  'import_run_list',
  `select id, is_dry_run, is_silent, failure, failure_detail, created_at, finished_at, coalesce(lines, 0) as lines, stage, line, batches,
     counts, operator_key_id, operator_key_id is null or received_at is not null as is_received
   from import_run order by id desc limit 100`,
  { rows: 'many' },
);

/** Lists the last imports of all operator keys and of the command line, newest first. */
export const listImports = async (db: QueryRunner) =>
  (await db.query(lastImports, [])).map(({ operator_key_id: operatorKeyId, is_received: isReceived, ...row }) => ({
    ...present(row),
    ...(!isReceived && { status: 'receiving' as const }),
    operatorKeyId,
  }));

export type ListedImport = Awaited<ReturnType<typeof listImports>>[number];

const refusalsOfImport = query<RefusalRow>(
  'import_refusal_list',
  `select number, line, type, external_id as "externalId", code, detail
   from import_refusal where import_id = $1 and number > $2 order by number limit $3`,
);

/** Returns an import of an operator key. @throws import_not_found also for one of another key */
export async function readImport(
  db: QueryRunner,
  operatorKeyId: string,
  importId: string,
): Promise<z.infer<typeof importSummary>> {
  const [row] = await db.query(importOfKey, [importId, operatorKeyId]);
  if (row === undefined) throw new ProblemError('import_not_found');
  return present(row);
}

/** Returns an import of an operator key with a page of its report. @throws import_not_found */
export async function readImportReport(
  db: QueryRunner,
  operatorKeyId: string,
  { importId, after, limit }: { importId: string; after: number; limit: number },
): Promise<z.infer<typeof importReport>> {
  // One row more tells whether there are others. Both in one round trip; a foreign import is an error before its rows are.
  const [summary, found] = await Promise.all([
    readImport(db, operatorKeyId, importId),
    db.query(refusalsOfImport, [importId, after, limit + 1]),
  ]);
  const refusals = found.slice(0, limit);
  return { ...summary, refusals, next: found.length > limit ? (refusals.at(-1)?.number ?? null) : null };
}

const endOf = (failure: string | null) =>
  failure === null ? ('completed' as const) : failure === CANCELED ? CANCELED : ('failed' as const);

function present({ counts, ...row }: Row): z.infer<typeof importSummary> {
  const running = row.batches === 0 ? 'queued' : 'running';
  return {
    id: row.id,
    status: row.finished_at === null ? running : endOf(row.failure),
    isDryRun: row.is_dry_run,
    isSilent: row.is_silent,
    failure: row.failure,
    failureDetail: row.failure_detail,
    createdAt: iso(row.created_at),
    finishedAt: isoOrNull(row.finished_at),
    lines: row.lines,
    stage: row.stage,
    line: row.line,
    imported: {
      accounts: counts.account ?? 0,
      teams: counts.team ?? 0,
      memberships: counts.membership ?? 0,
      apiKeys: counts.apiKey ?? 0,
    },
    existing: counts.existing ?? 0,
    refused: counts.refused ?? 0,
  };
}
