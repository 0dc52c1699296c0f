import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { exampleFile } from '../examples/programs.ts';
import type { Api } from '../support/api.ts';
import { runCommand } from './programs.ts';

const ROOT = join(import.meta.dirname, '../..');

/** For tests that install packages. */
export const MINUTES = { timeout: 300_000 };

/** How this machine reaches the registry of npm, and what it has of it already. */
export const NPM_ENVIRONMENT = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(HOME|NODE_EXTRA_CA_CERTS|(npm_config|https?_proxy|no_proxy).*)$/i.test(name) ? [[name, value ?? '']] : [],
    ),
  ),
  npm_config_audit: 'false',
  npm_config_prefer_offline: 'true',
};

type Values = Readonly<Record<string, string>>;

/** Returns the commands that a README has for an empty folder. @param values what replaces the placeholders, and `http://localhost:3000` */
export const commandsOf = (example: string, values: Values): string =>
  commandsIn(example, /empty folder, while Roster runs:\s+```sh\n([\s\S]*?)```/i, values);

/** Returns the commands that a README has for the folder of Roster. */
export const rosterCommandsOf = (example: string, values: Values = {}): string =>
  commandsIn(example, /in the folder of Roster:\s+```sh\n([\s\S]*?)```/i, values);

/** Returns the commands that a pattern captures in a README. */
export function commandsIn(example: string, pattern: RegExp, values: Values): string {
  const [, commands = ''] = pattern.exec(readFileSync(exampleFile(example, 'README.md'), 'utf8')) ?? [];
  const filled = Object.entries(values).reduce((all, [from, to]) => all.replaceAll(from, to), commands);
  expect(filled).not.toBe('');
  // Comments say what is printed.
  expect(filled.replaceAll(/#.*/g, '')).not.toMatch(/…|localhost:3000/);
  return filled;
}

/** A folder with everything of the folder of Roster, where commands can write files. */
export function rosterFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roster-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of readdirSync(ROOT)) symlinkSync(join(ROOT, name), join(folder, name));
  return folder;
}

/** Runs commands in the folder of Roster, with the settings of a service. @returns what they print */
export async function runInRoster({ databaseUrl, services }: Api, commands: string, cwd = rosterFolder()) {
  const { baseUrl, dataDir, secretKeys = [] } = services.config;
  const env = {
    ...NPM_ENVIRONMENT,
    DATABASE_URL: databaseUrl,
    BASE_URL: baseUrl,
    DATA_DIR: dataDir,
    SECRET_KEYS: secretKeys.join(','),
  };
  const { code, stdout, stderr } = await runCommand(commands, { cwd, env });
  expect(code, stderr).toBe(0);
  return stdout;
}
