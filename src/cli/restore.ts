import { Option, type Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { restoreBackup } from '../backup/restore.ts';
import { migrate } from '../db/migrate.ts';
import { describeAudit } from './audit-check.ts';
import { errorSummary, CommandError } from './failure.ts';
import { withDatabase } from './operate.ts';
import { print } from './output.ts';
import { terminalOf } from './terminal.ts';

type Options = { from: string; withoutEmails?: boolean; withoutMails?: boolean; withoutDeliveries?: boolean };

export function restoreCommand(command: Command): void {
  command
    .description('Restore a backup into an empty database, in one transaction')
    .requiredOption('--from <file>', 'a file that `roster backup` created')
    // Not `--no-emails`: commander ignores defaults of options that are added in the `preSubcommand` hook.
    .option('--without-emails', 'do not restore waiting emails, for a test restore')
    .option('--without-deliveries', 'do not send waiting webhooks, nor those of older events')
    .addOption(new Option('--without-mails', 'the former name of --without-emails').hideHelp())
    .action(async ({ from: file, withoutEmails, withoutMails, withoutDeliveries }: Options) => {
      const config = readConfig(terminalOf(command).env);
      const restored = await withDatabase(config, async (url) => {
        const options = { emails: !withoutEmails && !withoutMails, deliveries: !withoutDeliveries };
        const result = await restoreBackup(url, file, options).catch((error: unknown) => {
          throw new CommandError(`--from: nothing was restored: ${errorSummary(error)}`);
        });
        await migrate(url);
        return { ...result, audit: await describeAudit(url, config) };
      });
      const { madeAt, rows, audit } = restored;
      const counts = Object.entries(rows).map(([table, count]) => `${String(count).padStart(10)}  ${table}`);
      await print(command, {
        json: { file, ...restored },
        lines: [`Restored the backup of ${madeAt}:`, ...counts, `Audit log: ${audit}`],
      });
    });
}
