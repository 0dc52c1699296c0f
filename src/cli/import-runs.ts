import type { Command } from 'commander';
import { cancelImport } from '../resources/imports/cancel.service.ts';
import { listImports, type ListedImport } from '../resources/imports/imports.queries.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';
import type { Line } from './output.ts';

/** Commands for imports that exist: uploads of operator keys, and those of the command line. */
export function importRunCommands(command: Command): void {
  command
    .command('list')
    .description('List the last 100 imports of files and of operator keys, newest first')
    .action(
      withServices(async ({ db }) => {
        const imports = await listImports(db);
        return { json: imports, lines: imports.length > 0 ? imports.map(toLine) : ['There are no imports.'] };
      }),
    );

  command
    .command('cancel')
    .description('End an import. What was imported until then stays')
    .requiredOption('--import <id>', 'the import, from `import list`')
    .action(
      withServices(async ({ db }, { import: id }: { import: string }) => {
        if (!(await cancelImport(db, 'system', id)))
          throw new CommandError(`--import: no import ${id} is waiting or running`);
        return { json: { success: true }, lines: [`Import ${id} canceled.`] };
      }),
    );
}

const toLine = ({ id, createdAt, status, operatorKeyId, stage, line, refused, ...one }: ListedImport): Line => [
  id,
  createdAt,
  operatorKeyId ?? 'file',
  one.isDryRun ? 'dry run' : null,
  status,
  `line ${line} of ${stage}s`,
  `${refused} refused`,
  one.failureDetail ?? (status === 'failed' ? one.failure : null),
];
