import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { openOrm } from './orm.ts';

// Writes the migration that brings a database from the migrations there are to the entities as they
// stand, to be reviewed: `npm run migration -- <name>`.
const dataDir = mkdtempSync(join(tmpdir(), 'roster-migration-'));
chmodSync(dataDir, 0o755);
const server = await startEmbedded({ dataDir, durable: false });
try {
  await migrate(server.url);
  const orm = await openOrm(server.url, { poolMax: 1 });
  const { fileName } = await orm.migrator.create(undefined, false, false, process.argv[2]);
  await orm.close(true);
  process.stdout.write(fileName === '' ? 'Entities and migrations agree already.\n' : `migrations/${fileName}\n`);
} finally {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}
