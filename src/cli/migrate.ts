import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { migrate } from '../db/migrate.ts';
import { print, withDatabase } from './operate.ts';

export function migrateCommand(command: Command): void {
  command.action(async () => {
    const applied = await withDatabase(readConfig(process.env), migrate);
    print(command, { json: { applied }, text: applied.join('\n') || 'The database is up to date.' });
  });
}
