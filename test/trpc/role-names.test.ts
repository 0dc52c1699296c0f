import { describe, expect } from 'vitest';
import pg from 'pg';
import { SCOPES } from '../../src/entities/index.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openOrm } from '../../src/db/connection/orm.ts';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { createTestDatabase } from '../support/database.ts';
import { as, tally, withKey } from './console.ts';

async function aTeamOfOwner(api: Api) {
  const owner = await api.anAccount();
  const { id: teamId } = await api.aTeam({ owner });
  return { owner, teamId, trpc: await as(api, owner) };
}

const UNREADABLE = {
  'a line end': 'Sales\nTeam',
  'a carriage return': 'Sales\rTeam',
  'an escape': 'Sales\u001b[31m',
  'a C1 control': 'Sales\u0085Team',
  'a line separator': 'Sales\u2028Team',
  'a right-to-left override': 'Sales\u202egnp',
  'an embedding': '\u202aSales',
  'an isolate': '\u2066Sales\u2069',
  'white space only': ' \u00a0\u2003',
  'invisible characters only': '\u200b\u2060\ufeff',
  'joiners only': '\u200d\u200c',
};

const pointersOf = async (call: Promise<unknown>) => {
  const { code, errors } = await problemOf(call);
  expect(code).toBe('validation_failed');
  return errors?.map((entry) => [entry.pointer, entry.code]);
};

describe.for(Object.entries(UNREADABLE))('a name with %s', ([, name]) => {
  test('is no name of a role', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Sales', permissions: [] });

    // Nothing is left of white space.
    const expected = [['/name', name.trim() === '' ? 'min_length' : 'invalid_format']];
    expect(await pointersOf(trpc.roles.create.mutate({ teamId, name, permissions: [] }))).toEqual(expected);
    expect(await pointersOf(trpc.roles.update.mutate({ teamId, roleId, name }))).toEqual(expected);
  });

  test('is rejected for teams and people over tRPC; over REST only its length is checked', async ({ api }) => {
    const { owner, teamId } = await aTeamOfOwner(api);
    const key = await api.anApiKey(owner, { scopes: SCOPES });
    const trpc = withKey(api, key);

    expect(await pointersOf(trpc.createTeam.mutate({ name }))).toEqual([['/name', 'invalid_format']]);
    expect(await pointersOf(trpc.updateTeam.mutate({ teamId, name }))).toEqual([['/name', 'invalid_format']]);
    expect(await pointersOf(trpc.updateMe.mutate({ firstName: name, lastName: 'Readable' }))).toEqual([
      ['/firstName', 'invalid_format'],
    ]);
    expect((await api.as(key).patch(`/api/v1/teams/${teamId}`, { name })).status).toBe(200);
    expect((await api.as(key).patch('/api/v1/me', { firstName: name, lastName: name })).status).toBe(200);
  });
});

// Each looks like the first one, in another way.
const LOOK_ALIKES = [
  ['Admin', 'ADMIN'],
  ['Admin', 'Аdmin'], // Cyrillic A
  ['Admin', '\uff21dmin'], // full width
  ['Admin', 'Ad\u200bmin'], // zero width space
  ['Admin', 'Adm1n'],
  ['Sales Team', ' Sales\u00a0 Team '],
  ['Corp', 'Ϲоrр'], // Greek and Cyrillic
  ['ΜΕΛΗ', 'μελη'], // Greek, in two cases
  ['БУХГАЛТЕР', 'бухгалтер'],
  ['Straße', 'STRASSE'],
  ['é', 'e\u0301'],
] as const;

const SYSTEM = ['Owner', 'owner', 'Ownеr', 'ΟWNER', 'Мember', 'Guеst', 'GUEST\u200b'];

describe('names of roles', () => {
  test.for(LOOK_ALIKES)(
    '%s and %s are one name to a reader, of which a team has one',
    async ([one, other], { api }) => {
      const { teamId, trpc } = await aTeamOfOwner(api);
      await trpc.roles.create.mutate({ teamId, name: one, permissions: [] });
      const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Something else', permissions: [] });

      const expected = [['/name', 'invalid_value']];
      expect(await pointersOf(trpc.roles.create.mutate({ teamId, name: other, permissions: [] }))).toEqual(expected);
      expect(await pointersOf(trpc.roles.update.mutate({ teamId, roleId, name: other }))).toEqual(expected);
    },
  );

  test.for(SYSTEM)('%s looks like a role of the system', async (name, { api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);

    expect(await pointersOf(trpc.roles.create.mutate({ teamId, name, permissions: [] }))).toEqual([
      ['/name', 'invalid_value'],
    ]);
  });

  test('that differ to a reader are accepted, also in other scripts and with marks', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);
    const names = [
      'Resume',
      'Résumé',
      'Бухгалтер',
      'Λογιστής',
      'مدير',
      'מנהל',
      '営業',
      'Nan',
      'Van',
      'Admin',
      'Admins',
    ];

    for (const name of names) await trpc.roles.create.mutate({ teamId, name, permissions: [] });
    // A role keeps its name, and can change its case.
    const roles = await trpc.listTeamRoles.query({ teamId });
    const { roleId = '' } = roles.find(({ name }) => name === 'Admins') ?? {};
    expect((await trpc.roles.update.mutate({ teamId, roleId, name: 'ADMINS' })).name).toBe('ADMINS');
  });

  test('of 8 look-alikes that are created concurrently one is created', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);
    const names = ['Admin', 'ADMIN', 'Аdmin', 'Adm1n', 'Admіn', 'admin', 'ａdmin', 'Admin\u200b'];

    const outcomes = await tally(names.map((name) => trpc.roles.create.mutate({ teamId, name, permissions: [] })));

    expect(outcomes).toEqual({ done: 1, validation_failed: 7 });
  });

  test('are unique in the database too, for every writer', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);
    await trpc.roles.create.mutate({ teamId, name: 'Admin', permissions: [] });
    const insert = (name: string, skeleton: string) =>
      api.rows(
        `insert into role (id, team_id, name, name_skeleton, permissions, created_at)
         values ('role_' || md5(random()::text), $1, $2, $3, '{}', now())`,
        [teamId, name, skeleton],
      );

    await expect(insert('Аdmin', 'admln')).rejects.toThrow('role_name_skeleton_unique');
    await expect(insert('Оwner', 'owner')).rejects.toThrow('role_name_reserved_check');
  });

  test('that a replica of the version before has changed do not stop others', async ({ api }) => {
    const { teamId, trpc } = await aTeamOfOwner(api);
    const { roleId } = await trpc.roles.create.mutate({ teamId, name: 'Former', permissions: [] });
    await api.rows(`update role set name = 'Renamed' where id = $1`, [roleId]);

    expect((await trpc.roles.create.mutate({ teamId, name: 'Former', permissions: [] })).name).toBe('Former');
  });
});

test('the upgrade keeps the oldest of the names that look alike, and numbers the others', async () => {
  const database = await createTestDatabase();
  const orm = await openOrm(database.url, { poolMax: 1 });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await orm.migrator.down({ to: 'Migration20261121213355_email_failures' });
    await client.query(`insert into team (id, name, slug, created_at, updated_at)
      values ('t1', 'One', 'one', now(), now()), ('t2', 'Two', 'two', now(), now())`);
    const roles = [
      ['t1', 'Admin'],
      ['t1', 'Аdmin'],
      ['t1', 'Admin (2)'],
      ['t1', 'Ownеr'],
      ['t1', `${'x'.repeat(99)}l`],
      ['t1', `${'x'.repeat(99)}1`],
      ['t2', 'Аdmin'],
    ] as const;
    for (const [i, [teamId, name]] of roles.entries()) {
      await client.query(
        `insert into role (id, team_id, name, permissions, created_at)
         values ($1, $2, $3, '{}', now() + make_interval(secs => $4))`,
        [`r${i}`, teamId, name, i],
      );
    }

    await migrate(database.url);

    const { rows } = await client.query<{ name: string }>(
      'select name from role where team_id is not null order by team_id, created_at',
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'Admin',
      'Аdmin (3)',
      'Admin (2)',
      'Ownеr (2)',
      `${'x'.repeat(99)}l`,
      `${'x'.repeat(96)} (2)`,
      'Аdmin',
    ]);
  } finally {
    await client.end();
    await orm.close(true);
    await database.drop();
  }
});
