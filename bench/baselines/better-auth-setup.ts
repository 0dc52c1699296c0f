import { readFileSync } from 'node:fs';
import { getMigrations } from 'better-auth/db/migration';
import { auth, pool, redis } from './better-auth-options.ts';

// Makes the tables and the rows, and prints a key and an organization for each caller.

const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
await pool.query(readFileSync(new URL('../data/better-auth.sql', import.meta.url), 'utf8'));

const { rows } = await pool.query(
  `select "userId", "organizationId", name from member join organization on organization.id = "organizationId"
   where "organizationId" like 'org-%-1' and role = 'owner' order by "userId"`,
);
const callers = [];
for (const { userId, organizationId, name } of rows) {
  const { key } = await auth.api.createApiKey({ body: { userId } });
  callers.push({ key, teamId: organizationId, teamName: name });
}
process.stdout.write(JSON.stringify(callers));
await pool.end();
redis.disconnect();
