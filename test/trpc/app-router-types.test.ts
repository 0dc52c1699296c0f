import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const dir = mkdtempSync(join(tmpdir(), 'roster-client-'));

/** A frontend's project: the emitted types, the tRPC client, and nothing of the server. */
beforeAll(async () => {
  await run(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.client.json'), '--outDir', join(dir, 'roster')]);
  mkdirSync(join(dir, 'node_modules/@trpc'), { recursive: true });
  for (const name of ['client', 'server']) {
    symlinkSync(join(ROOT, 'node_modules/@trpc', name), join(dir, 'node_modules/@trpc', name));
  }
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        module: 'esnext',
        moduleResolution: 'bundler',
        target: 'es2022',
        skipLibCheck: true,
        noEmit: true,
        lib: ['es2022', 'dom'],
        types: [],
        preserveSymlinks: true,
      },
      include: ['*.ts'],
    }),
  );
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function compile(body: string): Promise<string> {
  const lines = [
    `import { createTRPCClient, httpLink } from '@trpc/client';`,
    `import type { AppRouter } from './roster/router';`,
    `const trpc = createTRPCClient<AppRouter>({ links: [httpLink<AppRouter>({ url: '/trpc' })] });`,
    body,
  ];
  writeFileSync(join(dir, 'client.ts'), lines.join('\n'));
  return run(process.execPath, [TSC, '-p', dir]).then(
    () => '',
    (error: unknown) => String((error as { stdout: string }).stdout), // what execFile rejects with
  );
}

describe('AppRouter', () => {
  test('types a client that has none of the server’s code or packages', async () => {
    expect(
      await compile(
        `export const names: Promise<string[]> = trpc.listTeams.query().then((teams) => teams.map((team) => team.name));`,
      ),
    ).toBe('');
  });

  test('refuses a wrong input and a wrong reading of the output', async () => {
    expect(await compile(`void trpc.updateTeam.mutate({ teamId: 'team_1', name: 7 });`)).toContain('TS2322');
    expect(await compile(`export const n: Promise<number> = trpc.getMe.query().then((me) => me.email);`)).toContain(
      'TS2322',
    );
  });
});
