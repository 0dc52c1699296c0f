import { describe, expect } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';

const ACCOUNTS = '/operator/v1/accounts';
const TEAMS = '/operator/v1/teams';

type Listed = { readonly id: string };
type Row = Listed & { readonly value: string | null };

/** Reads all pages of a list. */
async function idsOf(api: Api, path: string, limit: number): Promise<string[]> {
  const operator = api.as(await api.anOperatorKey());
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { status, body } = await operator.get(`${path}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
    expect(status).toBe(200);
    found.push(...(body.accounts ?? body.teams).map(({ id }: Listed) => id));
    cursor = body.nextCursor;
  }
  return found;
}

/** Sorts by code point, then by id, with rows that have no value at the end. */
function sortedIds(rows: readonly Row[], isDescending: boolean): string[] {
  const bytes = (a: string, b: string) => (isDescending ? -1 : 1) * Buffer.compare(Buffer.from(a), Buffer.from(b));
  const has = (row: Row): row is Row & { value: string } => row.value !== null && row.value !== '';
  return [
    ...rows.filter(has).toSorted((a, b) => bytes(a.value, b.value) || bytes(a.id, b.id)),
    ...rows.filter((row) => !has(row)).toSorted((a, b) => bytes(a.id, b.id)),
  ].map(({ id }) => id);
}

/** First and last names: equal ones, none, from right to left, beyond the BMP, and the last code point. */
const NAMES: readonly (readonly [string | null, string | null])[] = [
  ['Ada', 'Lovelace'],
  ['Ada', 'Lovelace'],
  ['ADA', 'lovelace'],
  ['Ada', null],
  [null, 'Lovelace'],
  [null, null],
  [null, null],
  ['מרים', 'מירזאחאני'],
  ['\u202Eابن', 'سينا'],
  ['Émile', 'Zola'],
  ['zoë', '𝒵'],
  ['\u{10FFFF}\u{10FFFF}', '\u{10FFFF}\u{10FFFF}'],
  ['z\u{FFFF}', '\u{FFFF}'],
];

async function manyAccounts(api: Api): Promise<void> {
  for (const [i, [firstName, lastName]] of [...NAMES, ...NAMES].entries())
    await api.rows(
      `insert into account (id, email, first_name, last_name, disabled_at, created_at, updated_at)
       values ($1, $2, $3, $4, case when $5 then now() end, now(), now())`,
      [
        newId('acc'),
        i % 4 === 0 ? null : `${i % 2 ? 'ü' : 'U'}-${newId('m')}@sort.example`,
        firstName,
        lastName,
        i % 3 === 0,
      ],
    );
}

const ACCOUNT_VALUES = {
  createdAt: 'null',
  email: 'lower(email)',
  name: `lower(ltrim(coalesce(first_name, '') || ' ' || coalesce(last_name, '')))`,
  lastName: 'lower(last_name)',
};
const TEAM_VALUES = { createdAt: 'null', name: 'lower(name collate pg_catalog."default")', slug: 'slug' };

describe.for(['ascending', 'descending'] as const)('a sorted list of the operator, %s,', (direction) => {
  const isDescending = direction === 'descending';
  const sign = isDescending ? '-' : '';

  test.for(Object.entries(ACCOUNT_VALUES))(
    'has each account once, by %s, those without it last, also of the disabled ones',
    async ([field, value], { api }) => {
      await manyAccounts(api);
      for (const [query, where] of [
        ['', 'true'],
        ['&disabled=true', 'disabled_at is not null'],
      ]) {
        const rows = await api.rows<Row>(`select id, ${value} as value from account where ${where}`);
        expect(rows.length).toBeGreaterThan(8);
        const expected = sortedIds(rows, isDescending);
        for (const limit of [3, 100])
          expect(await idsOf(api, `${ACCOUNTS}?sort=${sign}${field}${query}`, limit), `${query} ${limit}`).toEqual(
            expected,
          );
      }
    },
  );

  test.for(Object.entries(TEAM_VALUES))('has each team once, by %s', async ([field, value], { api }) => {
    const owner = await api.anAccount();
    for (const name of ['Same', 'same', 'SAME', 'Émile', 'فريق', 'Z', '\u{10FFFF}', 'a'])
      await api.aTeam({ owner, name });
    const rows = await api.rows<Row>(`select id, ${value} as value from team`);
    for (const limit of [3, 100])
      expect(await idsOf(api, `${TEAMS}?sort=${sign}${field}`, limit)).toEqual(sortedIds(rows, isDescending));
  });

  test('has what a search finds in the order of its field', async ({ api }) => {
    const owner = await api.anAccount();
    const stem = newId('Stem');
    const inOrder = (ids: readonly string[]) => (isDescending ? ids.toReversed() : ids);
    const accounts: string[] = [];
    const teams: string[] = [];
    for (let i = 0; i < 5; i++) {
      const id = newId('acc');
      await api.rows(
        `insert into account (id, email, external_id, first_name, last_name, created_at, updated_at)
         values ($1, $2, $3, $4, $5, now(), now())`,
        [id, `${stem}${i}@sort.example`, `${stem}${i}`, stem, `${stem}${i}`],
      );
      accounts.push(id);
      const team = await api.aTeam({ owner, name: `${stem} ${i}` });
      await api.rows('update team set slug = $2, external_id = $2 where id = $1', [
        team.id,
        `${stem.toLowerCase()}-${i}`,
      ]);
      teams.push(team.id);
    }
    for (const field of ['email', 'name', 'lastName', 'externalId'])
      expect(await idsOf(api, `${ACCOUNTS}?${field}=${stem}&sort=${sign}${field}`, 2), field).toEqual(
        inOrder(accounts),
      );
    for (const field of ['name', 'slug', 'externalId'])
      expect(await idsOf(api, `${TEAMS}?${field}=${stem.toLowerCase()}&sort=${sign}${field}`, 2), field).toEqual(
        inOrder(teams),
      );
  });

  test('has the teams of a plan in the order of their creation', async ({ api }) => {
    const owner = await api.anAccount();
    for (let i = 0; i < 7; i++) {
      const { id } = await api.aTeam({ owner });
      if (i % 2 === 0) await api.rows(`insert into subscription (team_id, plan_id) values ($1, 'pro')`, [id]);
    }
    const plans = `select t.id, null as value from team t left join subscription s on s.team_id = t.id where coalesce(s.plan_id, 'free') = $1`;
    for (const plan of ['pro', 'free']) {
      const expected = sortedIds(await api.rows<Row>(plans, [plan]), isDescending);
      expect(await idsOf(api, `${TEAMS}?planId=${plan}&sort=${sign}createdAt`, 2), plan).toEqual(expected);
    }
  });
});

test('a cursor of another order, or of no list, is told so and continues nothing', async ({ api }) => {
  await manyAccounts(api);
  const operator = api.as(await api.anOperatorKey());
  const { nextCursor } = (await operator.get(`${ACCOUNTS}?sort=email&limit=1`)).body;
  expect((await operator.get(`${ACCOUNTS}?sort=email&limit=1&cursor=${nextCursor}`)).status).toBe(200);
  for (const query of [
    `cursor=${nextCursor}`,
    `sort=-email&cursor=${nextCursor}`,
    `sort=name&cursor=${nextCursor}`,
    `sort=email&disabled=true&cursor=${nextCursor}`,
    // As of versions before cursors were encrypted.
    `cursor=${Buffer.from(JSON.stringify([JSON.stringify(['', '']), '', 'acc_0'])).toString('base64url')}`,
    `sort=email&cursor=${nextCursor.slice(0, -2)}`,
    'sort=email&cursor=bnVsbA',
  ]) {
    const answer = await operator.get(`${ACCOUNTS}?${query}`);
    expect(answer, query).toBeProblem('validation_failed');
    expect(answer.body.errors, query).toEqual([{ in: 'query', pointer: '/cursor', code: 'invalid_format' }]);
  }
});

test('an order that no index has is refused, and a search has its own alone', async ({ api }) => {
  const operator = api.as(await api.anOperatorKey());
  for (const path of [
    `${ACCOUNTS}?sort=externalId`,
    `${ACCOUNTS}?sort=role`,
    `${ACCOUNTS}?sort=--email`,
    `${ACCOUNTS}?sort=`,
    `${ACCOUNTS}?name=a&sort=email`,
    `${ACCOUNTS}?email=a&sort=createdAt`,
    `${TEAMS}?sort=planId`,
    `${TEAMS}?planId=pro&sort=name`,
    `${TEAMS}?planId=free&sort=name`,
  ]) {
    const answer = await operator.get(path);
    expect(answer, path).toBeProblem('validation_failed');
    expect(answer.body.errors, path).toMatchObject([{ in: 'query', pointer: '/sort' }]);
  }
});
