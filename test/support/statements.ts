import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredStatements } from '../../src/db/query.ts';

const SRC = join(import.meta.dirname, '../../src');

/** What imports the functions that declare statements, from `db/query.ts` or those that wrap them. */
const IMPORTS_A_DECLARATION = /import \{[^}]*\b(?:query|list|command|recordedCommand)\b[^}]*\} from '[./]/;

/** Imports every file that can declare statements, in whatever way it is written. @returns all statements of the service */
export async function allStatements() {
  const files = globSync('**/*.ts', { cwd: SRC, exclude: ['web/**', '**/main.ts', '**/*.process.ts'] });
  const declaring = files.filter((file) => IMPORTS_A_DECLARATION.test(readFileSync(join(SRC, file), 'utf8')));
  for (const file of declaring) await import(join(SRC, file));
  // Other suites of the same process declare their own.
  return declaredStatements().filter(({ name }) => !name.startsWith('test_'));
}
