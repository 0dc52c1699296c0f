import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { writeBackup } from '../db/backup/write.ts';
import { CommandError } from './failure.ts';
import { print, withDatabase } from './operate.ts';

export function backupCommand(command: Command): void {
  command
    .description('Write all that the database holds at one moment to a file; SECRET_KEYS are not in it')
    .requiredOption('--to <file>', 'the file, which must not exist yet; nobody but its owner can read it')
    .action(async ({ to: file }: { to: string }) => {
      const written = await withDatabase(readConfig(process.env), (url) => writeBackup(url, file)).catch(
        (error: unknown) => {
          const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
          throw exists ? new CommandError(`--to: ${file} exists already, and is left as it is`) : error;
        },
      );
      const { bytes, tables } = written;
      print(command, {
        json: { file, ...written },
        text: `${file}: ${tables.length} tables and the waiting mails, ${bytes} bytes`,
      });
    });
}
