import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from '../webhooks/receiver.ts';
import { expect } from 'vitest';

const EXAMPLES = join(import.meta.dirname, '../../examples');

/** The path of a file of an example. */
export const exampleFile = (...path: string[]): string => join(EXAMPLES, ...path);

/** The oldest version that the README names. */
const OLDEST_MAJOR = 20;

const INSTALLED = [process.execPath, ...(process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, 'node'))]
  .filter((path) => existsSync(path))
  .map((path) => ({ path, major: Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'])) }))
  .filter(({ major }) => major >= OLDEST_MAJOR);

/**
 * The oldest Node.js on the PATH, because examples run on every version that the README names. The gate fails without
 * that version; elsewhere the oldest that is installed is tested.
 */
export const OLDEST_NODE = INSTALLED.reduce((oldest, one) => (one.major < oldest.major ? one : oldest)).path;

if (process.env['CI'] === 'true' && INSTALLED.every(({ major }) => major > OLDEST_MAJOR))
  throw new Error(`The examples are tested on Node.js ${OLDEST_MAJOR}, which is not on the PATH.`);

type Environment = Readonly<Record<string, string>>;

const environment = (env: Environment) => ({ PATH: process.env['PATH'], HOME: process.env['HOME'], ...env });

/** Starts an example that serves, in a process of its own that ends with the test. @returns its URL */
export async function startExample(file: string, env: Environment): Promise<string> {
  const child = spawn(OLDEST_NODE, [file], { env: environment(env) });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  await eventually(() => expect(lines[0]).toMatch(/^listening \d+$/));
  return `http://127.0.0.1:${lines[0]?.split(' ')[1]}`;
}

/** Runs an example to its end. */
export const runExample = (program: string, args: readonly string[], env: Environment) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(program, args, { env: environment(env) }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
