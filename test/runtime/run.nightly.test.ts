import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const RUN = fileURLToPath(new URL('../../bin/run.cjs', import.meta.url));

// Tells that it listens, then what it receives, and ends a moment after the first signal.
const LISTENER = `
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      console.log(signal);
      setTimeout(() => { console.log('ended gracefully'); process.exit(3); }, 200);
    });
  }
  setInterval(() => {}, 1000);
  console.log('listening');
`;

type RunOptions = { pretend?: string };

function run(args: readonly string[], { pretend }: RunOptions = {}) {
  const child = spawn(process.execPath, [...(pretend ? ['--require', aPreload(pretend)] : []), RUN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const answer = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[status], output, complaint]) => ({ status, output, complaint }),
  );
  return { child, answer, listening: once(child.stdout, 'data') };
}

/** A module that makes the running Node look like another one. */
function aPreload(source: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'roster-run-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'preload.cjs');
  writeFileSync(file, source);
  return file;
}

// As Node.js 20 is, which cannot replace its process by another.
const NO_EXECVE = `delete process.execve;`;
const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } });`;
const UNKNOWN_MACHINE = `Object.defineProperty(process, 'arch', { value: 'pdp11' });`;

describe('run.cjs', () => {
  test('hands on the arguments and the exit code', async () => {
    const { answer } = run([
      '--eval',
      'console.log(process.argv.slice(1).join()); process.exitCode = 7',
      '--',
      '--json',
      'a b',
    ]);

    expect(await answer).toEqual({ status: 7, output: '--json,a b\n', complaint: '' });
  });

  test('a new enough Node runs the script itself', async () => {
    const { answer } = run(['--print', 'process.execPath']);

    expect((await answer).output.trim()).toBe(process.execPath);
  });

  test('an old Node gives way to the packaged one, also for what the script starts', async () => {
    const script = `require('node:child_process').execSync('node --print process.versions.node', { stdio: 'inherit' })`;
    const { answer } = run(['--eval', script], { pretend: OLD_NODE });

    const { output, status } = await answer;

    expect(status).toBe(0);
    expect(Number.parseInt(output)).toBeGreaterThanOrEqual(24);
  });

  test.skipIf(process.platform === 'win32')('becomes the script, and leaves no process that waits for it', async () => {
    const { child, answer } = run(['--print', 'process.pid']);

    expect((await answer).output).toBe(`${child.pid}\n`);
  });

  test.each([
    ['where it becomes the script', ''],
    ['where it waits for the script', NO_EXECVE],
  ])('the script returns freed memory to the system, unless the environment says how, %s', async (_way, pretend) => {
    vi.stubEnv('MALLOC_ARENA_MAX', '7');
    vi.stubEnv('MALLOC_MMAP_THRESHOLD_', undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { answer } = run(
      ['--print', `['ARENA_MAX', 'MMAP_THRESHOLD_'].map((name) => process.env['MALLOC_' + name]).join()`],
      { pretend },
    );

    expect((await answer).output).toBe('7,1048576\n');
  });

  test('without a suitable Node, prints one line with the reason', async () => {
    const { answer } = run(['--version'], { pretend: OLD_NODE + UNKNOWN_MACHINE });

    const { status, output, complaint } = await answer;

    expect({ status, output }).toEqual({ status: 1, output: '' });
    expect(complaint).toMatch(/^Roster needs Node\.js 24\.7 or newer: .*\w+-pdp11\. Install Node\.js 24 .*\n$/);
  });

  describe.skipIf(process.platform === 'win32').each([
    ['where it becomes the script', ''],
    ['where it waits for the script', NO_EXECVE],
  ])('signals, %s', (_way, pretend) => {
    test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
      '%s reaches the script once, and its graceful end is waited for',
      async (signal) => {
        const { child, answer, listening } = run(['--eval', LISTENER], { pretend });
        await listening;

        child.kill(signal);

        expect(await answer).toEqual({ status: 3, output: `listening\n${signal}\nended gracefully\n`, complaint: '' });
      },
    );

    // npm sends signals to its shell alone, which ends without passing them on; a supervisor may also kill either.
    test.each([
      ['npm is told to end', 'npm', 'SIGTERM'],
      ['npm is killed', 'npm', 'SIGKILL'],
      ['its shell is killed', 'shell', 'SIGKILL'],
    ] as const)('the script ends gracefully when %s', async (_case, victim, signal) => {
      const directory = mkdtempSync(join(tmpdir(), 'roster-npm-'));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const file = aPreload(LISTENER);
      const start = `"${process.execPath}" --require "${aPreload(pretend)}" "${RUN}" "${file}"`;
      writeFileSync(join(directory, 'package.json'), JSON.stringify({ scripts: { start } }));
      const npm = spawn('npm', ['start', '--silent'], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void npm.kill('SIGKILL'));
      const output = text(npm.stdout);
      await once(npm.stdout, 'data');
      const children = readFileSync(`/proc/${npm.pid}/task/${npm.pid}/children`, 'utf8');

      process.kill(victim === 'npm' ? (npm.pid ?? 0) : Number.parseInt(children), signal);

      // The output ends when the last process that holds it has ended.
      expect(await output).toMatch(/^listening\nSIGTERM\nended gracefully\n$/);
    });

    test('the death of the script by a signal differs from its exit', async () => {
      const { child, answer } = run(['--eval', `process.kill(process.pid, 'SIGKILL')`], { pretend });

      const { status } = await answer;

      expect(child.signalCode === 'SIGKILL' ? 128 + 9 : status).toBe(137);
    });

    // `script` gives the command a terminal, which sends the signal to both processes at once. Its shell must
    // not stay between: one that is interrupted tells that, not the exit code of what it ran.
    test.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/script'))(
      'Ctrl-C in a terminal reaches the script once, and its graceful end is waited for',
      async () => {
        const file = aPreload(LISTENER);
        const terminal = spawn(
          'script',
          [
            '--quiet',
            '--return',
            '--command',
            `exec '${process.execPath}' --require '${aPreload(pretend)}' '${RUN}' '${file}'`,
            '/dev/null',
          ],
          { stdio: ['pipe', 'pipe', 'inherit'] },
        );
        onTestFinished(() => void terminal.kill('SIGKILL'));
        const output = text(terminal.stdout);
        await once(terminal.stdout, 'data');

        terminal.stdin.write('\u0003');

        const [status] = await once(terminal, 'exit');
        expect(status).toBe(3);
        expect((await output).replaceAll('\r', '').replace('^C', '')).toBe('listening\nSIGINT\nended gracefully\n');
      },
    );
  });
});

describe.each([
  ['console', 'build-web.cjs', 'Vite'],
  ['client', 'build-client.cjs', 'TypeScript'],
])('building the %s without development packages', (_what, file, missing) => {
  const build = (script: string) => {
    const directory = mkdtempSync(join(tmpdir(), 'roster-build-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const copy = join(directory, file);
    copyFileSync(join(dirname(RUN), file), copy);
    const env = { ...process.env, npm_lifecycle_event: script };
    const { status, stderr } = spawnSync(process.execPath, [copy], { env, encoding: 'utf8' });
    return { status, stderr };
  };

  test('fails and names what is missing', () => {
    expect(build('build')).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        new RegExp(`^roster: .*${missing} is not installed\\. Run \`npm ci\` without --omit=dev.*\\n$`),
      ),
    });
  });

  test('does nothing after `npm ci --omit=dev`', () => {
    expect(build('prepare')).toEqual({ status: 0, stderr: '' });
  });
});
