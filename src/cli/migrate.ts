import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { migrate } from '../db/migrate.ts';
import { withDatabase } from './operate.ts';
import { print } from './output.ts';
import { terminalOf } from './terminal.ts';

export function migrateCommand(command: Command): void {
  command.action(async () => {
    const applied = await withDatabase(readConfig(terminalOf(command).env), migrate);
    await print(command, {
      json: { applied },
      lines: applied.length > 0 ? applied : ['The database is up to date.'],
    });
  });
}
