import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const RUN_MS_MAX = 900_000;

// A test has to fail twice, so that a busy machine kills nothing.
const OPTIONS = ['run', '--bail=1', '--retry=1', '--reporter=dot', '--no-color'];

export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'error'; readonly reason: string };

/** Runs suites in a copy of the tree until a test fails. Aborting the signal ends vitest. */
export async function runSuites(
  scratch: string,
  databaseUrl: string,
  tests: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  const vitest = join(scratch, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, ...OPTIONS, ...tests], {
    cwd: scratch,
    env: { ...process.env, NO_COLOR: '1', TEST_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
    signal,
  });
  const exited = once(child, 'exit').catch((error: unknown) => [null, String(error)]);
  const [out, err, [code, reason]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  if (code === 0) return { kind: 'passed' };
  const output = `${out}\n${err}`;
  // Vitest names a test as `file > test (1st retry)`, but a file that did not load as `file [ file ]`.
  const test = /^ ?FAIL +(.+ > .+) \([^)]*1st retry\)$/m.exec(output)?.[1];
  if (test !== undefined) return { kind: 'failed', test };
  const suite = /^ ?FAIL +(.+)$/m.exec(output)?.[1] ?? 'no test failed';
  return { kind: 'error', reason: `suite did not run: ${suite}, exit ${String(code ?? reason)}` };
}
