import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { restoreBackup } from '../db/backup/restore.ts';
import { migrate } from '../db/migrate.ts';
import { describeAudit } from './audit-check.ts';
import { errorSummary, CommandError } from './failure.ts';
import { print, withDatabase } from './operate.ts';

type Options = { from: string; withoutMails?: boolean };

export function restoreCommand(command: Command): void {
  command
    .description('Fill an empty database from a backup: all of it or, where something is wrong, nothing')
    .requiredOption('--from <file>', 'a file that `roster backup` has written')
    // Not `--no-mails`: the commander forgets defaults of a command that is filled this late.
    .option('--without-mails', 'leave out the mails that had not left when it was made, as for a rehearsal')
    .action(async ({ from: file, withoutMails = false }: Options) => {
      const config = readConfig(process.env);
      const restored = await withDatabase(config, async (url) => {
        const result = await restoreBackup(url, file, { mails: !withoutMails }).catch((error: unknown) => {
          throw new CommandError(`--from: nothing was restored: ${errorSummary(error)}`);
        });
        await migrate(url);
        return { ...result, audit: await describeAudit(url, config) };
      });
      const { madeAt, rows, audit } = restored;
      const lines = Object.entries(rows).map(([table, count]) => `${String(count).padStart(10)}  ${table}`);
      print(command, {
        json: { file, ...restored },
        text: [`Restored what was there at ${madeAt}:`, ...lines, `Audit log: ${audit}`].join('\n'),
      });
    });
}
