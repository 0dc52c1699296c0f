import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  appProceduresModule,
  eventsModule,
  operationsModule,
  routerModule,
} from '../../clients/typescript/scripts/declarations.ts';

const ROOT = join(import.meta.dirname, '../..');
const GENERATED = join(ROOT, 'clients/typescript/src/generated');

test('the client package was generated from the present procedures', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'roster-generated-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const modules = {
    'app-procedures.ts': appProceduresModule(),
    'events.ts': eventsModule(),
    'operations.ts': operationsModule('api'),
    'operator.ts': operationsModule('operator'),
    'router.ts': routerModule(),
  };
  for (const [file, text] of Object.entries(modules)) writeFileSync(join(dir, file), text);
  const format = [join(ROOT, 'node_modules/oxfmt/bin/oxfmt'), '-c', join(ROOT, '.oxfmtrc.json'), dir];
  await promisify(execFile)(process.execPath, format);
  for (const file of Object.keys(modules)) {
    const [now, committed] = [dir, GENERATED].map((folder) => readFileSync(join(folder, file), 'utf8'));
    expect(now, 'run `npm run build:client`').toBe(committed);
  }
});
