import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setPriority } from 'node:os';
import type { Command } from 'commander';
import { CommandError } from './failure.ts';
import { endImport, newProgress, openImport, scanFile, type Progress } from '../resources/imports/progress.ts';
import { runImport, type RefusedRow } from '../resources/imports/run.ts';
import { readFile } from '../resources/imports/lines.ts';
import { STAGES } from '../resources/imports/rows.ts';
import { importRunCommands } from './import-runs.ts';
import { withServices } from './operate.ts';
import { terminalOf, type Terminal } from './terminal.ts';

/** The process has nothing else to do meanwhile. */
const ROWS_MAX = 2000;

/** Below that of a service on the same machine. */
const PRIORITY = 10;

type Options = { from?: string; report?: string; dryRun?: true; silent?: true };

export function importCommand(command: Command): void {
  importRunCommands(command);
  command
    .description('Import accounts, teams, memberships and API keys; run it again to continue')
    .option('--from <file>', 'NDJSON file, also compressed with gzip (see docs/import.md)')
    .option('--report <file>', 'NDJSON file for the refused rows (default: <from>.refused.ndjson)')
    .option('--dry-run', 'check every row and import nothing')
    .option('--silent', 'record no events for accounts and teams that the import creates')
    .action(
      withServices(async (services, { from, report = `${from}.refused.ndjson`, dryRun, silent }: Options, called) => {
        const { stderr } = terminalOf(called);
        if (from === undefined) throw new CommandError('--from: name the file with the rows');
        if (!existsSync(from)) throw new CommandError(`--from: ${from} does not exist`);
        const scanned = await scanFile(from).catch((error: unknown) => {
          throw new CommandError(
            `--from: ${from} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
          );
        });
        if (scanned.rows === 0) throw new CommandError(`--from: ${from} has no rows`);
        setPriority(PRIORITY);
        const isSilent = silent === true;
        const { progress, isResumed } =
          dryRun === true
            ? { progress: newProgress('dry run'), isResumed: false }
            : await openImport(services, { ...scanned, isSilent });
        if (isResumed) stderr.write(`Continuing at line ${progress.line} of ${progress.stage}s.\n`);
        const refusals = await openReport(report, progress.reportBytes);
        const bar = createBar(scanned.lines, stderr);
        const done = await runImport({
          services,
          source: readFile(from),
          progress,
          isDryRun: dryRun === true,
          isSilent,
          isStored: dryRun === undefined,
          rowsMax: ROWS_MAX,
          report: (rows) => refusals.write(rows),
          onProgress: (position) => {
            refusals.committed(position.reportBytes);
            bar.show(position);
          },
        }).finally(async () => {
          bar.clear();
          await refusals.close();
        });
        if (dryRun === undefined) await endImport(services, done.id);
        const count = (name: string) => done.counts[name] ?? 0;
        const counts = {
          accounts: count('account'),
          teams: count('team'),
          memberships: count('membership'),
          apiKeys: count('apiKey'),
          existing: count('existing'),
          refused: count('refused'),
        };
        const verb = dryRun === true ? 'would be imported' : 'imported';
        return {
          json: { rows: scanned.rows, ...counts, report },
          lines: [
            `${counts.accounts} accounts, ${counts.teams} teams, ${counts.memberships} memberships and ${counts.apiKeys} API keys ${verb}; ${counts.existing} rows exist already.`,
          ],
          ...(counts.refused > 0 && {
            failure: `${counts.refused} of ${scanned.rows} rows were refused, see ${report}`,
          }),
        };
      }),
    );
}

/** Opens the report, without what was written after the last commit. */
async function openReport(path: string, committedBytes: number) {
  const file = await open(path, committedBytes > 0 && existsSync(path) ? 'r+' : 'w');
  let size = Math.min(committedBytes, (await file.stat()).size);
  await file.truncate(size);
  return {
    /** Rows of a batch that is tried again are written over. */
    async write(rows: readonly RefusedRow[]): Promise<number> {
      const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      await file.write(bytes, 0, bytes.length, size);
      return size + bytes.length;
    },
    committed: (bytes: number) => void (size = bytes),
    async close(): Promise<void> {
      await file.truncate(size);
      await file.close();
    },
  };
}

const WIDTH = 30;

/** Shows progress on a terminal, and nothing elsewhere. */
function createBar(lines: number, stderr: Terminal['stderr']) {
  if (stderr.isTTY !== true) return { show: () => undefined, clear: () => undefined };
  const startedAt = performance.now();
  return {
    show({ stage, line, counts }: Progress): void {
      const share = (STAGES.indexOf(stage) + line / lines) / STAGES.length;
      const filled = Math.round(share * WIDTH);
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const rate = Math.round(total / ((performance.now() - startedAt) / 1000));
      stderr.write(
        `\r[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(share * 100)} %  ${stage}s  ${total} rows, ${rate} a second \u001b[K`,
      );
    },
    clear: () => void stderr.write('\r\u001b[K'),
  };
}
