import type { Command } from 'commander';
import { cancelImport } from '../resources/imports/cancel.service.ts';
import { listImports, type ListedImport } from '../resources/imports/imports.queries.ts';
import { transaction } from '../transactions/transaction.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';

/** Commands for imports that exist: uploads of operator keys, and those of the command line. */
export function importRunCommands(command: Command): void {
  command
    .command('list')
    .description('List the last 100 imports of files and of operator keys, newest first')
    .action(
      withServices(async ({ db }) => {
        const imports = await listImports(db);
        return { json: imports, text: imports.map(line).join('\n') || 'There are no imports.' };
      }),
    );

  command
    .command('cancel')
    .description('End an import. What was imported until then stays')
    .requiredOption('--import <id>', 'the import, from `import list`')
    .action(
      withServices(async ({ db }, { import: id }: { import: string }) => {
        if (!(await transaction(db, (tx) => cancelImport(tx, id))))
          throw new CommandError(`--import: no import ${id} is waiting or running`);
        return { json: { success: true }, text: `Import ${id} canceled.` };
      }),
    );
}

const line = ({ id, createdAt, status, operatorKeyId, stage, line: at, refused, ...one }: ListedImport): string =>
  [
    id,
    createdAt,
    operatorKeyId ?? 'file',
    one.isDryRun ? 'dry run' : '',
    status,
    `line ${at} of ${stage}s`,
    `${refused} refused`,
    one.failureDetail ?? (status === 'failed' ? one.failure : '') ?? '',
  ]
    .filter(Boolean)
    .join('  ');
