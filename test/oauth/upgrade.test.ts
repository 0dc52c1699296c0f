import { expect, onTestFinished, test } from 'vitest';
import { knownMigrations } from '../../src/db/migrate.ts';
import { openOrm } from '../../src/db/connection/orm.ts';
import { createTestDatabase } from '../support/database.ts';

const MIGRATION = knownMigrations().find((name) => name.endsWith('_oauth_token_families')) ?? '';

// Guarantees that a filled database of the version before loses no token and no key, and that nothing gets more access.
test('grants of the same account, client and audience become one, with all their tokens and keys', async () => {
  const database = await createTestDatabase();
  const orm = await openOrm(database.url, { poolMax: 2 });
  onTestFinished(async () => {
    await orm.close(true);
    await database.drop();
  });
  const run = <Row>(sql: string): Promise<Row[]> => orm.em.execute(sql) as unknown as Promise<Row[]>;
  const before = knownMigrations()[knownMigrations().indexOf(MIGRATION) - 1] ?? '';
  await orm.migrator.down({ to: before });

  await run(`insert into account (id, created_at, updated_at, email) values ('acc', now(), now(), 'a@example.com')`);
  await run(`insert into oauth_client (id, source, name, redirect_uris, created_at)
    values ('client', 'operator', 'A client', '{}', now())`);
  const grant = (id: string, scopes: string, days: number, narrowed = false, revoked = false) =>
    run(`insert into oauth_grant
        (id, account_id, client_id, audience, scopes, created_at, expires_at, narrowed_at, revoked_at, last_used_at)
      values ('grant_${id}', 'acc', 'client', 'personal', '{${scopes}}', now() - interval '${90 - days} days',
        now() + interval '${days} days', ${narrowed ? 'now()' : 'null'}, ${revoked ? 'now()' : 'null'},
        now() - interval '${days} hours')`);
  await grant('1', 'profile:read', 10, true);
  await grant('2', 'profile:read,teams:read', 20);
  await grant('3', 'members:read', 30, false, true);
  await grant('4', 'members:read', -1);
  for (const [id, scopes] of [
    ['1', 'profile:read,teams:read'],
    ['2', 'teams:read'],
    ['3', 'members:read'],
  ]) {
    await run(`insert into oauth_token (token_hash, kind, grant_id, scopes, payload, created_at, expires_at)
      values ('r${id}', 'refresh', 'grant_${id}', '{${scopes}}', '{"grantId":"grant_${id}"}', now(), now() + interval '9 days')`);
    await run(`insert into api_key (id, account_id, oauth_grant_id, name, scopes, key_prefix, last4, created_at)
      values ('key_${id}', 'acc', 'grant_${id}', 'A key', '{${scopes}}', 'p', 'last', now())`);
  }

  await orm.migrator.up();

  expect(
    await run(`select id, scopes, resource, revoked_at is null as is_active,
      round(extract(epoch from expires_at - now()) / 86400)::int as days,
      round(extract(epoch from now() - last_used_at) / 3600)::int as hours from oauth_grant order by id`),
  ).toEqual([
    { id: 'grant_2', scopes: ['profile:read', 'teams:read'], resource: 'api', is_active: true, days: 20, hours: 10 },
    expect.objectContaining({ id: 'grant_3', is_active: false, resource: null }),
    expect.objectContaining({ id: 'grant_4', resource: null }),
  ]);
  expect(
    await run(`select convert_from(token_hash, 'utf8') as token, grant_id, family_id, scopes, payload->>'grantId' as of
      from oauth_token order by 1`),
  ).toEqual([
    { token: 'r1', grant_id: 'grant_2', family_id: 'family_1', scopes: ['profile:read'], of: 'grant_2' },
    { token: 'r2', grant_id: 'grant_2', family_id: 'family_2', scopes: ['teams:read'], of: 'grant_2' },
    { token: 'r3', grant_id: 'grant_3', family_id: 'family_3', scopes: ['members:read'], of: 'grant_3' },
  ]);
  expect(
    await run(`select id, oauth_grant_id as "grant", oauth_family_id as family, scopes from api_key order by id`),
  ).toEqual([
    { id: 'key_1', grant: 'grant_2', family: 'family_1', scopes: ['profile:read'] },
    { id: 'key_2', grant: 'grant_2', family: 'family_2', scopes: ['teams:read'] },
    { id: 'key_3', grant: 'grant_3', family: 'family_3', scopes: ['members:read'] },
  ]);
});
