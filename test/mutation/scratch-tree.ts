import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutation } from './mutations.ts';

const PATHS = [
  'src',
  'clients',
  'test',
  'migrations',
  'bin',
  'docs',
  'README.md',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'mikro-orm.config.ts',
  'examples',
  'openapi.json',
  '.env.example',
];

/** Copies what the suites read, so that the tree itself is never changed. @returns the path of the copy */
export function copyTree(root: string): string {
  const scratch = mkdtempSync(join(tmpdir(), 'roster-mutation-'));
  chmodSync(scratch, 0o755);
  for (const path of PATHS.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, path), join(scratch, path), { recursive: true });
  }
  for (const path of ['node_modules', 'dist']) symlinkSync(join(root, path), join(scratch, path));
  return scratch;
}

/** @returns the mutated text. @throws if the text to replace is not there exactly once */
export function mutate(root: string, { name, file, find, replace }: Mutation): string {
  const parts = readFileSync(join(root, file), 'utf8').split(find);
  if (parts.length === 2) return parts.join(replace);
  throw new Error(`"${name}": its text occurs ${parts.length - 1} times in ${file}, not once; adapt the mutation`);
}
