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
 * server. A mutation is killed if a test fails; at least `KILLED_MIN` have to be. A run that fails without naming a
 * test, because a suite did not load or the time was up, is an error and kills nothing.
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

type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'error'; readonly reason: string };

/** Runs suites in the scratch copy until a test fails. */
async function runSuites(scratch: string, databaseUrl: string, tests: readonly string[]): Promise<Outcome> {
  const vitest = join(scratch, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--bail=1', '--reporter=dot', '--no-color', ...tests], {
    cwd: scratch,
    env: { ...process.env, NO_COLOR: '1', TEST_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
  });
  const [out, err, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code === 0) return { kind: 'passed' };
  const output = `${out}\n${err}`;
  // Vitest names a test as `file > test`, but a file that did not load as `file [ file ]`.
  const test = /^ ?FAIL +(.+ > .+)$/m.exec(output)?.[1];
  if (test !== undefined) return { kind: 'failed', test };
  const suite = /^ ?FAIL +(.+)$/m.exec(output)?.[1] ?? 'no test failed';
  return { kind: 'error', reason: `suite did not run: ${suite}, exit ${String(code ?? signal)}` };
}

/** Killed and all mutations of each folder. */
function scores(killed: readonly Mutation[]): string[] {
  const folders = [...new Set(chosen.map(({ file }) => dirname(file)))];
  return folders.map((folder) => {
    const all = chosen.filter(({ file }) => dirname(file) === folder);
    const killedHere = all.filter((mutation) => killed.includes(mutation)).length;
    return `${`${killedHere}/${all.length}`.padStart(6)}  ${folder}`;
  });
}

// All texts first, so that an outdated mutation does not cost a run of the others.
const sources = new Map(chosen.map((mutation) => [mutation, mutate(mutation)]));
const scratch = copyTree();
const dataDir = mkdtempSync(join(tmpdir(), 'roster-mutation-db-'));
chmodSync(dataDir, 0o755);
const server = await startEmbedded({ dataDir, durable: false, flags: ['max_connections=300'] });
const killed: Mutation[] = [];
const survivors: Mutation[] = [];
const errors: Mutation[] = [];
try {
  // Without this a suite that is broken anyway would count as a kill.
  const suites = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const unchanged = await runSuites(scratch, server.url, suites);
  if (unchanged.kind !== 'passed')
    throw new Error(
      `the suites fail without any mutation: ${unchanged.kind === 'failed' ? unchanged.test : unchanged.reason}`,
    );
  for (const mutation of chosen) {
    const file = join(scratch, mutation.file);
    const original = readFileSync(file, 'utf8');
    writeFileSync(file, sources.get(mutation) ?? '');
    const startedAt = Date.now();
    const outcome = await runSuites(scratch, server.url, mutation.tests);
    writeFileSync(file, original);
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const title = `${mutation.file}: ${mutation.name}`;
    if (outcome.kind === 'failed') {
      killed.push(mutation);
      say(`killed  ${title}\n  ${seconds} s, by ${outcome.test}`);
    } else if (outcome.kind === 'passed') {
      survivors.push(mutation);
      say(`SURVIVED  ${title}\n  ${seconds} s`);
    } else {
      errors.push(mutation);
      say(`ERROR  ${title}\n  ${seconds} s, ${outcome.reason}`);
    }
  }
} finally {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

for (const line of scores(killed)) say(line);
for (const { name } of survivors) say(`survivor: ${name}: ${KNOWN_SURVIVORS[name] ?? 'no reason is listed'}`);
for (const { name } of errors) say(`error: ${name}: its suites did not run`);
const share = chosen.length === 0 ? 1 : killed.length / chosen.length;
say(`${Math.round(share * 100)} % of ${chosen.length} mutations killed`);
if (share < KILLED_MIN || errors.length > 0 || survivors.some(({ name }) => !(name in KNOWN_SURVIVORS)))
  process.exitCode = 1;
