import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from '../webhooks/receiver.ts';
import { expect } from 'vitest';

const EXAMPLES = join(import.meta.dirname, '../../examples');

/** The path of a file of an example. */
export const exampleFile = (...path: string[]): string => join(EXAMPLES, ...path);

type Environment = Readonly<Record<string, string>>;

const environment = (env: Environment) => ({ PATH: process.env['PATH'], HOME: process.env['HOME'], ...env });

/** Starts an example that serves, in a process of its own that ends with the test. @returns its URL */
export async function startExample(file: string, env: Environment): Promise<string> {
  const child = spawn(process.execPath, [file], { env: environment(env) });
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
