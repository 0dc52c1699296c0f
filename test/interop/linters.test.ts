import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { document, operatorDocument } from '../rest/documents.ts';
import { temporaryFolder } from './programs.ts';

const LINTERS = {
  redocly: ['@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended-strict'],
  spectral: [
    '@stoplight/spectral-cli/dist/index.js',
    'lint',
    '--ruleset',
    join(import.meta.dirname, 'spectral.yaml'),
    '--fail-severity',
    'hint',
  ],
};

test.each(
  Object.entries(LINTERS).flatMap(([name, command]) => [
    { name, title: 'REST API', openapi: document, command },
    { name, title: 'operator API', openapi: operatorDocument, command },
  ]),
)('$name finds nothing in the document of the $title', async ({ openapi, command: [program = '', ...args] }) => {
  const file = join(temporaryFolder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(openapi));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, 'node_modules', program), ...args, file],
      { env },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });

  expect({ code, output }).toMatchObject({ code: 0 });
});
