import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startEmbedded } from '../../src/db/embedded.ts';
import { KNOWN_SURVIVORS, MUTATIONS, type Mutation } from './mutations.ts';

/*
 * Runs the named suites against each mutation in a scratch copy of the tree, one after the other on one database
 * server. A mutation is killed if a suite fails; at least `KILLED_MIN` have to be.
 * Usage: npm run test:mutation -- [words of names or files]
 */
const KILLED_MIN = 0.9;
const TREE = [
  'src',
  'test',
  'migrations',
  'bin',
  'docs',
  'README.md',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];
const OPTIONAL = ['mikro-orm.config.ts', 'examples', 'openapi.json', '.env.example'];
const RUN_MS_MAX = 300_000;

const root = join(import.meta.dirname, '../..');
const words = process.argv.slice(2);
const chosen = MUTATIONS.filter(({ name, file }) => words.every((word) => `${file} ${name}`.includes(word)));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns the mutated text. @throws if the text to replace is not there exactly once. */
function mutate({ name, file, find, replace }: Mutation): string {
  const source = readFileSync(join(root, file), 'utf8');
  const parts = source.split(find);
  if (parts.length !== 2)
    throw new Error(`"${name}": its text occurs ${parts.length - 1} times in ${file}, not once; adapt the mutation`);
  return parts.join(replace);
}

function copyTree(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'roster-mutation-'));
  chmodSync(scratch, 0o755);
  for (const path of TREE) cpSync(join(root, path), join(scratch, path), { recursive: true });
  for (const path of OPTIONAL) {
    try {
      cpSync(join(root, path), join(scratch, path), { recursive: true });
    } catch {
      // It does not exist in this version.
    }
  }
  for (const path of ['node_modules', 'dist']) symlinkSync(join(root, path), join(scratch, path));
  return scratch;
}

/** Runs suites in the scratch copy. @returns the test or suite that failed first, or null if all passed. */
async function firstFailure(scratch: string, databaseUrl: string, tests: readonly string[]): Promise<string | null> {
  const vitest = join(scratch, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--bail=1', '--reporter=dot', '--no-color', ...tests], {
    cwd: scratch,
    env: { ...process.env, NO_COLOR: '1', TEST_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return code === 0 ? null : (/^ ?FAIL +(.+)$/m.exec(out + err)?.[1] ?? `exit ${String(code)}`);
}

/** Killed and all mutations of each folder. */
function scores(survivors: readonly Mutation[]): string[] {
  const folders = [...new Set(chosen.map(({ file }) => dirname(file)))];
  return folders.map((folder) => {
    const all = chosen.filter(({ file }) => dirname(file) === folder);
    const killed = all.filter((mutation) => !survivors.includes(mutation)).length;
    return `${`${killed}/${all.length}`.padStart(6)}  ${folder}`;
  });
}

// All texts first, so that an outdated mutation does not cost a run of the others.
const sources = new Map(chosen.map((mutation) => [mutation, mutate(mutation)]));
const scratch = copyTree();
const dataDir = mkdtempSync(join(tmpdir(), 'roster-mutation-db-'));
chmodSync(dataDir, 0o755);
const server = await startEmbedded({ dataDir, durable: false, flags: ['max_connections=300'] });
const survivors: Mutation[] = [];
try {
  // Without this a suite that is broken anyway would count as a kill.
  const suites = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const broken = await firstFailure(scratch, server.url, suites);
  if (broken !== null) throw new Error(`the suites fail without any mutation: ${broken}`);
  for (const mutation of chosen) {
    const file = join(scratch, mutation.file);
    const original = readFileSync(file, 'utf8');
    writeFileSync(file, sources.get(mutation) ?? '');
    const startedAt = Date.now();
    const killer = await firstFailure(scratch, server.url, mutation.tests);
    writeFileSync(file, original);
    if (killer === null) survivors.push(mutation);
    say(`${killer === null ? 'SURVIVED' : 'killed'}  ${mutation.file}: ${mutation.name}`);
    say(`  ${Math.round((Date.now() - startedAt) / 1000)} s${killer === null ? '' : `, by ${killer}`}`);
  }
} finally {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

for (const line of scores(survivors)) say(line);
for (const { name } of survivors) say(`survivor: ${name}: ${KNOWN_SURVIVORS[name] ?? 'no reason is listed'}`);
const killed = 1 - survivors.length / Math.max(1, chosen.length);
say(`${Math.round(killed * 100)} % of ${chosen.length} mutations killed`);
if (killed < KILLED_MIN || survivors.some(({ name }) => !(name in KNOWN_SURVIVORS))) process.exitCode = 1;
