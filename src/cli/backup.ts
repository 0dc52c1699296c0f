import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { writeBackup } from '../backup/write.ts';
import { CommandError } from './failure.ts';
import { withDatabase } from './operate.ts';
import { print } from './output.ts';
import { terminalOf } from './terminal.ts';

export function backupCommand(command: Command): void {
  command
    .description('Back up the database to a file, without SECRET_KEYS')
    .requiredOption('--to <file>', 'the file to create, readable only by its owner')
    .action(async ({ to: file }: { to: string }) => {
      const written = await withDatabase(readConfig(terminalOf(command).env), (url) => writeBackup(url, file)).catch(
        (error: unknown) => {
          const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
          throw exists ? new CommandError(`--to: ${file} already exists and was not overwritten`) : error;
        },
      );
      const { bytes, tables } = written;
      await print(command, {
        json: { file, ...written },
        lines: [`${file}: ${tables.length} tables and the waiting emails, ${bytes} bytes`],
      });
    });
}
