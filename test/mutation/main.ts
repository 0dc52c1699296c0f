import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { KNOWN_SURVIVORS, type Mutation, MUTATIONS } from './mutations.ts';
import { report, type Result } from './report.ts';
import { type Outcome, runSuites } from './run-suites.ts';
import { copyTree, mutate } from './scratch-tree.ts';

/*
 * Runs the named suites against each mutation in a copy of the tree, one after the other on one database server. A
 * mutation is killed if a test fails. A run that fails without naming a test, because a suite did not load or the time
 * was up, is an error and kills nothing.
 * Usage: npm run test:mutation -- [words of names or files]
 */
const root = join(import.meta.dirname, '../..');
const words = process.argv.slice(2);
const chosen = MUTATIONS.filter(({ name, file }) => words.every((word) => `${file} ${name}`.includes(word)));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const VERBS = { failed: 'killed', passed: 'SURVIVED', error: 'ERROR' } as const;

function describe(outcome: Outcome): string {
  if (outcome.kind === 'failed') return `, by ${outcome.test}`;
  return outcome.kind === 'error' ? `, ${outcome.reason}` : '';
}

if (chosen.length === 0) {
  say(`No mutation contains all of these words in its file and name: ${words.join(' ')}`);
  process.exit(2);
}
// All texts first, so that an outdated mutation does not cost a run of the others.
const sources = new Map(chosen.map((mutation) => [mutation, mutate(root, mutation)]));

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    process.exitCode = 128 + constants.signals[signal];
    stop.abort();
  });
}

const scratch = copyTree(root);
const dataDir = mkdtempSync(join(tmpdir(), 'roster-mutation-db-'));
chmodSync(dataDir, 0o755);
const results: Result[] = [];
try {
  const server = await startEmbedded({ dataDir, durable: false, flags: ['max_connections=300'] });
  try {
    await run(server.url);
  } finally {
    await server.close();
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

const { lines, isGood } = report(results, KNOWN_SURVIVORS);
for (const line of lines) say(line);
if (stop.signal.aborted) say(`stopped after ${results.length} of ${chosen.length}`);
else if (!isGood) process.exitCode = 1;

async function run(databaseUrl: string): Promise<void> {
  const passing = new Set<string>();
  for (const mutation of chosen) {
    const startedAt = Date.now();
    const outcome =
      (await findBroken(databaseUrl, mutation.tests, passing)) ?? (await runMutated(databaseUrl, mutation));
    if (stop.signal.aborted) return;
    results.push({ mutation, outcome });
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    say(`${VERBS[outcome.kind]}  ${mutation.file}: ${mutation.name}\n  ${seconds} s${describe(outcome)}`);
  }
}

/**
 * Runs suites without any mutation, each once in a run of the command and again only if that failed, because a suite
 * that is broken anyway would count as a kill.
 */
async function findBroken(
  databaseUrl: string,
  tests: readonly string[],
  passing: Set<string>,
): Promise<Outcome | undefined> {
  const unknown = tests.filter((suite) => !passing.has(suite));
  if (unknown.length === 0) return undefined;
  let outcome = await runSuites(scratch, databaseUrl, unknown, stop.signal);
  if (outcome.kind !== 'passed') outcome = await runSuites(scratch, databaseUrl, unknown, stop.signal);
  if (outcome.kind !== 'passed') return { kind: 'error', reason: `fails without any mutation${describe(outcome)}` };
  for (const suite of unknown) passing.add(suite);
  return undefined;
}

async function runMutated(databaseUrl: string, mutation: Mutation): Promise<Outcome> {
  const file = join(scratch, mutation.file);
  const original = readFileSync(file, 'utf8');
  writeFileSync(file, sources.get(mutation) ?? '');
  const outcome = await runSuites(scratch, databaseUrl, mutation.tests, stop.signal);
  writeFileSync(file, original);
  return outcome;
}
