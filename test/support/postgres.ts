import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { migrate } from '../../src/db/migrate.ts';

const TEMPLATE = 'roster_template';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that test databases are cloned on, at its template. */
    templateUrl: string;
  }
}

/** The suite that runs on the PostgreSQL of this system, with the defaults of its package (see vitest.config.ts). */
const ON_SYSTEM = 'system';

/** One throw-away server for the run, with the migrations applied once to the template that tests clone. */
// eslint-disable-next-line import/no-default-export -- vitest calls the default export
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'roster-test-'));
  // For the user that the server runs as: a folder it cannot reach would be moved elsewhere.
  chmodSync(dataDir, 0o755);
  const given = process.env['TEST_DATABASE_URL'];
  const server = given === undefined ? await startServer(project.name, dataDir) : undefined;
  const serverUrl = server?.url ?? given ?? '';

  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`drop database if exists ${TEMPLATE}`);
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const template = new URL(serverUrl);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
  project.provide('templateUrl', template.href);

  return async () => {
    await server?.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

async function startServer(suite: string, dataDir: string) {
  // It says so if PostgreSQL is missing, which other suites do not need.
  const system = suite === ON_SYSTEM ? await import('./system-postgres.ts') : undefined;
  if (system?.hasSystemPostgres === true) return system.startSystemPostgres();
  return startEmbedded({ dataDir, durable: false, flags: ['max_connections=300'] });
}
