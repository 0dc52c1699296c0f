import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';

const OUTPUT = new URL('../../src/telemetry/log-output.ts', import.meta.url).href;
const LOG = new URL('../../src/telemetry/log.ts', import.meta.url).href;

/** Runs a script whose stdout is a real pipe that nothing reads until the test does; `say` writes to stderr. */
function run(script: string) {
  const source = `
    import { createLogOutput } from '${OUTPUT}';
    import { openLog } from '${LOG}';
    const output = createLogOutput(process.stdout);
    const log = openLog('info', output);
    const say = (words) => process.stderr.write(words + '\\n');
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const write = async (count) => {
      for (let i = 0; i < count; i++) {
        log.info({ filler: 'x'.repeat(1000) }, 'line');
        if (i % 100 === 0) await turn();
      }
    };
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said: createInterface(child.stderr)[Symbol.asyncIterator]() };
}

describe('a reader of stdout that stalls', () => {
  test('never makes the service wait; what is dropped is counted and said in the next line', async () => {
    const { child, said } = run(`
      await write(10_000);
      say(String(output.dropped()));
      process.stdin.once('data', async () => {
        log.info('after');
        await output.close();
        process.exit(0);
      });`);
    // It goes on although nothing has been read yet.
    const { value: counted } = await said.next();
    const dropped = Number(counted);
    expect(dropped).toBeGreaterThan(1000);

    const lines: { msg: string; droppedLines?: number }[] = [];
    const reader = createInterface(child.stdout);
    reader.on('line', (line) => lines.push(JSON.parse(line) as { msg: string }));
    await waitFor(() => lines.length === 10_000 - dropped);
    child.stdin.write('go on');
    await once(reader, 'close');

    expect(lines.slice(0, -1).every(({ msg, droppedLines }) => msg === 'line' && droppedLines === undefined)).toBe(
      true,
    );
    expect(lines.at(-1)).toMatchObject({ msg: 'after', droppedLines: dropped });
  });

  test('does not keep a clean shutdown from ending', async () => {
    const { child, said } = run(`await write(2000); say('written'); await output.close(); process.exit(0);`);
    await said.next();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });
});

test('a clean shutdown writes every line that waits', async () => {
  const { child } = run(`await write(900); log.info('last'); await output.close(); process.exit(0);`);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  expect(lines).toHaveLength(901);
  expect(lines.at(-1)).toContain('"msg":"last"');
});

test('a fault that ends the process does not lose the line before it', async () => {
  const { child } = run(`log.info('last'); throw new Error('a fault');`);
  expect(await text(child.stdout)).toContain('"msg":"last"');
});

test('a reader that has closed the stream does not end the service', async () => {
  const { child, said } = run(`
    process.stdin.once('data', async () => { await write(2000); await turn(); await write(10); say('still here ' + output.dropped()); });`);
  child.stdout.destroy();
  child.stdin.write('go on');
  const { value } = await said.next();
  expect(value).toMatch(/^still here \d+$/);
});

async function waitFor(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
