import { expect } from 'vitest';
import { z } from 'zod';
import { JsonList, PART_ITEMS } from '../../src/db/lists/json-list.ts';
import { declaredLists, type List } from '../../src/db/lists/list.ts';
import { test, type Api } from '../support/api.ts';
import { allStatements } from '../support/statements.ts';

await allStatements();

/** What JSON has to escape, and what it must not. */
const STRANGE = `E'"\\\\/\\u0001\\b\\f\\n\\r\\t \\u2028é😀 </script>'`;

/** A team and an account with everything that a row can be: without values, with strange ones, inactive, expired. */
async function aScene(api: Api) {
  const account = await api.anAccount();
  const team = await api.aTeam({ owner: account });
  const [inactive, expired, bare] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
  await api.aMember(team, inactive, { active: false });
  await api.aMember(team, expired, { expiresAt: new Date(0) });
  await api.aMember(team, bare, { role: (await api.aRole(team, ['remove_members', 'access_dashboard'])).id });
  await api.rows(`update account set email = null where id = $1`, [bare.id]);
  await api.rows(`update membership set joined_at = null where account_id = $1`, [bare.id]);
  await api.rows(
    `update account set first_name = ${STRANGE}, last_name = ${STRANGE}, avatar = 'https://example.com/ä' where id = $1`,
    [account.id],
  );
  await api.rows(`update team set name = ${STRANGE}, description = ${STRANGE}, avatar_url = 'https://example.com/1' where id = $1`, [team.id]); // prettier-ignore
  await api.aTeam({ owner: account });
  await api.rows(`update role set name = ${STRANGE}, product_permissions = '{invoices:write}', is_sensitive = true where team_id = $1`, [team.id]); // prettier-ignore
  await api.aRole(team, []);
  for (const where of [{}, { team }]) {
    const used = await api.anApiKey(account, where);
    await api.anApiKey(account, { ...where, expiresAt: new Date(0), scopes: ['teams:read', 'members:read'] });
    await api.rows(
      `update api_key set name = ${STRANGE}, last_used_at = '2026-01-02 03:04:05.6789Z', product_permissions = '{a:b,b:c}'
       where id = $1`,
      [used.id],
    );
    await api.rows(
      `insert into api_key_secret (secret_hash, api_key_id, created_at, expires_at)
       values (decode(md5($1), 'hex'), $1, now(), now() + interval '1 hour')`,
      [used.id],
    );
  }
  await api.rows(
    `with sent as (
       insert into invitation (id, team_id, email, role_id, created_at, expires_at)
       select 'inv_' || n || $1, $1, E'"\\\\ö😀' || n || '@example.com', 'guest', now(), now() + (n - 1) * interval '1 day'
       from generate_series(0, 2) n returning id)
     insert into invitation_link (token_hash, invitation_id, proves_mailbox, created_at, email_failure)
     select decode(md5(id), 'hex'), id, true, now(), 'rejected' from sent where starts_with(id, 'inv_2')`,
    [team.id],
  );
  const session = await api.aSession(account);
  await api.aSession(account);
  await api.rows(
    `update session set country = 'DE', city = ${STRANGE}, browser = 'B', os = 'O', device_type = 'desktop',
       authentication_type = 'password', last_used_at = now(), last_address = '192.0.2.1',
       proofs = '{"password": "2026-01-02T03:04:05.6789+00:00", "link": "2026-01-03T00:00:00+00:00"}' where id = $1`,
    [session.id],
  );
  return { account: account.id, team: team.id, session: session.id };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** The parameters of each list, and how many items it has in the scene. */
const LISTS: Readonly<Record<string, readonly [items: number, values: (scene: Scene) => readonly (string | null)[]]>> =
  {
    api_key_list_of_team: [2, ({ team }) => [team]],
    api_key_list_of_team_with_use: [2, ({ team, account }) => [team, account]],
    api_key_list_personal: [2, ({ account }) => [account]],
    api_key_list_personal_with_use: [2, ({ account }) => [account]],
    invitation_list_open: [3, ({ team }) => [team]],
    invitation_list_pending: [1, ({ team }) => [team]],
    membership_list_of_team: [4, ({ team }) => [team]],
    membership_list_of_team_with_terms: [4, ({ team }) => [team]],
    role_list_of_team: [5, ({ team }) => [team, 'access_dashboard remove_members', 'invoices:write']],
    role_list_of_team_with_product: [5, ({ team }) => [team, 'access_dashboard', '']],
    session_list_active: [2, ({ account, session }) => [account, session]],
    session_list_active_with_use: [2, ({ account, session }) => [account, session]],
    team_list_of_account: [2, ({ account }) => [account, null]],
  };

const named = (name: string): List<unknown> => {
  const found = declaredLists().find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no list ${name}.`);
  return found;
};

test('every list is here', () => {
  expect(
    declaredLists()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('test_'))
      .toSorted(),
  ).toEqual(Object.keys(LISTS).toSorted());
});

// PostgreSQL makes the answer, so nothing in the process checks it: not the names and their order, nor the form of values.
test.for(Object.keys(LISTS))(
  '%s has the items that its schema describes, as JSON.stringify writes them',
  async (name, { api }) => {
    const { item, short, long } = named(name);
    const [count, values] = LISTS[name] ?? [0, () => []];
    const scene = await aScene(api);

    const [listed] = await api.services.db.query(short, values(scene));
    const parts = await api.services.db.query(long, values(scene));

    const text = `[${listed?.items}]`;
    const items = z.array((item as z.ZodObject).strict()).parse(JSON.parse(text));
    expect(items).toHaveLength(count);
    expect(text).toBe(JSON.stringify(items));
    expect(parts).toEqual([{ items: listed?.items, length: count }]);
  },
);

test('a list is short up to 200 items, and is read in parts of 400 beyond', async ({ api }) => {
  const { db } = api.services;
  const members = named('membership_list_of_team');
  const team = await api.aTeam();
  const lengths: [number, number | string, boolean][] = [];
  for (const length of [0, 1, 200, 201, 400, 401, 1234]) {
    await api.rows(
      `with person as (
         insert into account (id, first_name, created_at, updated_at)
         select $1 || n, ${STRANGE} || n, now(), now() from generate_series(
           1 + (select count(*) from membership where team_id = $1), $2::int) n returning id)
       insert into membership (id, team_id, account_id, role_id, joined_at, created_at)
       select id, $1, id, 'member', now(), now() from person`,
      [team.id, length],
    );
    const list = await db.list(members, [team.id]);
    const pieces = typeof list.json === 'string' ? 1 : list.json.length;
    const ids = await api.rows<{ id: string }>('select id from membership where team_id = $1 order by joined_at, id', [
      team.id,
    ]);
    const text = typeof list.json === 'string' ? list.json : Buffer.concat(list.json).toString();
    const items = JSON.parse(text) as { membershipId: string }[];
    expect(items.map(({ membershipId }) => membershipId)).toEqual(ids.map(({ id }) => id));
    expect(list).toHaveLength(length);
    expect(list.items()).toEqual(items);
    for (const start of [0, PART_ITEMS - 1, PART_ITEMS, length - 1, length])
      expect(list.slice(start, start + 50)).toEqual(items.slice(start, start + 50));
    lengths.push([length, pieces, list.isLong]);
  }

  expect(lengths.map(([length, , isLong]) => [length, isLong])).toEqual([
    [0, false],
    [1, false],
    [200, false],
    [201, true],
    [400, true],
    [401, true],
    [1234, true],
  ]);
  // A part, what separates it from the one before, and the end.
  expect(lengths.map(([, pieces]) => pieces)).toEqual([1, 1, 1, 3, 3, 5, 9]);
});

test('lists get their places in the JSON of what contains them', () => {
  const [one, other] = [JsonList.ofShort('1'), JsonList.ofLong([{ items: '2,3', length: 2 }])];
  const json = JSON.stringify([{ a: one }, 'text', other]);

  expect(Buffer.concat(JsonList.insert(json, [one, other])).toString()).toBe('[{"a":[1]},"text",[2,3]]');
});
