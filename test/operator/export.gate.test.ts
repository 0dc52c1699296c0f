import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { headersOf } from '../pictures/sender.ts';
import { test, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';

const ACCOUNTS = '/exports/accounts.csv';
const TEAMS = '/exports/teams.csv';

async function anOperator(api: Api) {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return { ...account, visitor: await signedIn(api, account) };
}

const pathOf = (path: string, input: object) => `${path}?input=${encodeURIComponent(JSON.stringify(input))}`;

const send = (api: Api, visitor: Visitor, path: string, more: Record<string, string> = {}, method = 'GET') =>
  api.anonymous.send({ method, path, headers: { ...headersOf(visitor), ...more } });

/** Sends a request, and returns the response before its body is read. */
const open = (api: Api, visitor: Visitor, path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: api.port, path, headers: headersOf(visitor), agent: false };
    const req = get(options, resolve).on('error', reject);
    onTestFinished(() => void req.destroy());
  });

/** A field of RFC 4180. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;

function parseCsv(file: string): readonly (readonly string[])[] {
  // Excel reads UTF-8 only after a byte order mark.
  expect(file.at(0)).toBe('\ufeff');
  const csv = file.slice(1);
  const lines: string[][] = [[]];
  let end = 0;
  for (const [field, quoted, plain = '', separator] of csv.matchAll(FIELD)) {
    end += field.length;
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (separator === '\r\n') lines.push([]);
  }
  expect(end).toBe(csv.length);
  expect(lines.pop()).toEqual([]);
  return lines;
}

/** Accounts whose export is longer than what the sockets of both sides take. */
const fillAccounts = (api: Api, count: number) =>
  api.rows(
    `insert into account (id, email, first_name, last_name, created_at, updated_at)
     select 'acc_' || lpad(n::text, 26, '0'), 'many' || n || '@export.example', repeat('Ada', 60), 'L' || n % 7, now(), now()
     from generate_series(1, $1::int) n on conflict do nothing`,
    [count],
  );

const exportsRunning = (api: Api) =>
  api.rows(`select 1 from pg_stat_activity where datname = current_database() and application_name like '% export'`);

describe('an export of the operator', () => {
  test('has the whole list in its order, however long, and is recorded without what was searched', async ({ api }) => {
    await fillAccounts(api, 12_000);
    const operator = await anOperator(api);
    const { status, headers, text: csv } = await send(api, operator.visitor, pathOf(ACCOUNTS, { sort: '-lastName' }));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="accounts.csv"',
      'cache-control': 'no-store',
    });
    const [columns, ...lines] = parseCsv(csv);
    expect(columns?.slice(0, 3)).toEqual(['id', 'externalId', 'email']);
    const expected = await api.rows<{ id: string }>(
      `select id from account order by lower(last_name) collate "C" desc nulls last, id desc`,
    );
    expect(lines.map(([id]) => id)).toEqual(expected.map(({ id }) => id));

    const found = await send(api, operator.visitor, pathOf(ACCOUNTS, { email: 'many1199' }));
    expect(parseCsv(found.text)).toHaveLength(1 + 11);
    const events = await api.rows(
      `select event, actor_kind, actor_id, account_id, team_id, details from audit_event
       where event = 'operator.list_exported' and actor_id = $1 order by id`,
      [operator.id],
    );
    const event = {
      event: 'operator.list_exported',
      actor_kind: 'operator_session',
      actor_id: operator.id,
      team_id: null,
    };
    expect(events).toMatchObject([
      { ...event, details: { list: 'accounts', filter: [] } },
      { ...event, details: { list: 'accounts', filter: ['email'] } },
    ]);
    expect(JSON.stringify(events)).not.toContain('many1199');
  });

  test('has disabled accounts and the teams of a plan only where it is filtered so', async ({ api }) => {
    const { visitor, id: ownerId } = await anOperator(api);
    const disabled = await api.anAccount();
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);
    const teams = [await api.aTeam({ owner: { id: ownerId } }), await api.aTeam({ owner: { id: ownerId } })];
    await api.rows(`insert into subscription (team_id, plan_id) values ($1, 'pro')`, [teams[1]?.id]);
    const idsOf = async (path: string, input: object) =>
      parseCsv((await send(api, visitor, pathOf(path, input))).text)
        .slice(1)
        .map(([id]) => id);

    expect(await idsOf(ACCOUNTS, { disabled: true })).toEqual([disabled.id]);
    expect(await idsOf(TEAMS, { planId: 'pro' })).toEqual([teams[1]?.id]);
    expect(await idsOf(TEAMS, { planId: 'free' })).not.toContain(teams[1]?.id);
    expect(await idsOf(TEAMS, { planId: 'free' })).toContain(teams[0]?.id);
    expect(await idsOf(TEAMS, { name: 'no team begins like this' })).toEqual([]);
  });

  test('has names as they are, but none that a spreadsheet evaluates', async ({ api }) => {
    const { visitor } = await anOperator(api);
    const names = ['=1+1', ' @SUM(A1)', '＝cmd', '"Ada", the\r\nfirst', 'مريم', '-5', 'Ada'];
    for (const firstName of names) await api.anAccount({ firstName, email: `${crypto.randomUUID()}@formula.example` });
    const lines = parseCsv((await send(api, visitor, pathOf(ACCOUNTS, {}))).text);
    const at = lines[0]?.indexOf('firstName') ?? -1;
    const found = lines.filter((line) => line[2]?.endsWith('@formula.example')).map((line) => line[at]);
    expect(found).toEqual(["'=1+1", "' @SUM(A1)", "'＝cmd", '"Ada", the\r\nfirst', 'مريم', "'-5", 'Ada']);
  });

  test('runs once for each operator and twice in all, and ends when the client has gone', async ({ api }) => {
    await fillAccounts(api, 40_000);
    const [first, second, third] = [await anOperator(api), await anOperator(api), await anOperator(api)];
    const unread = await open(api, first.visitor, ACCOUNTS);
    expect(unread.statusCode).toBe(200);
    expect(await send(api, first.visitor, TEAMS)).toBeProblem('export_running');
    // The same operator in another browser.
    expect(await send(api, await signedIn(api, first), TEAMS)).toBeProblem('export_running');
    expect((await send(api, second.visitor, TEAMS)).status).toBe(200);
    const other = await open(api, second.visitor, ACCOUNTS);
    expect(other.statusCode).toBe(200);
    expect(await send(api, third.visitor, TEAMS)).toBeProblem('service_unavailable');
    expect(await exportsRunning(api)).toHaveLength(2);

    unread.destroy();
    other.destroy();
    await expect.poll(() => exportsRunning(api)).toEqual([]);
    expect((await send(api, first.visitor, TEAMS)).status).toBe(200);
    expect((await send(api, third.visitor, TEAMS)).status).toBe(200);
  });

  test('delays nobody: while exports are not read, lists and changes are answered', async ({ api }) => {
    await fillAccounts(api, 40_000);
    const [first, second] = [await anOperator(api), await anOperator(api)];
    for (const { visitor } of [first, second]) expect((await open(api, visitor, ACCOUNTS)).statusCode).toBe(200);
    const { accounts } = await first.visitor.trpc.operator.listAccounts.query({ limit: 100 });
    expect(accounts).toHaveLength(100);
    await second.visitor.trpc.operator.updateAccount.mutate({ accountId: accounts[0]!.id, firstName: 'Changed' });
  });

  test.for([
    ['loses the role', `update account set role = 'user' where id = $1`],
    ['is disabled', 'update account set disabled_at = now() where id = $1'],
    ['is signed out', 'update session set revoked_at = now() where account_id = $1'],
    [
      'loses the database',
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like '% export' and $1 <> ''`,
    ],
  ] as const)('is cut off when the operator %s, so that it is not taken for the whole', async ([, sql], { api }) => {
    await fillAccounts(api, 40_000);
    const operator = await anOperator(api);
    const response = await open(api, operator.visitor, ACCOUNTS);
    await api.rows(sql, [operator.id]);
    await expect(text(response)).rejects.toThrow(/aborted/);
    expect(response.complete).toBe(false);
    await expect.poll(() => exportsRunning(api)).toEqual([]);
  });

  test('does not exist for others, and has the checks of procedures', async ({ api }) => {
    const operator = await anOperator(api);
    const member = await api.anAccount();
    const key = await api.anApiKey(operator, { scopes: SCOPES });
    const as = (more: Record<string, string>, path = ACCOUNTS, method = 'GET') =>
      send(api, operator.visitor, path, more, method);

    expect(await send(api, await signedIn(api, member), ACCOUNTS)).toBeProblem('route_not_found');
    expect(await send(api, api.visitor(), ACCOUNTS)).toBeProblem('credential_missing');
    expect(await api.as(key).get(ACCOUNTS)).toBeProblem('session_required');
    expect(await api.as(await api.anOperatorKey()).get(ACCOUNTS)).toBeProblem('credential_invalid');
    expect(await as({ 'sec-fetch-site': 'cross-site' })).toBeProblem('cross_site_request');
    expect(await as({ 'x-roster-account': member.id })).toBeProblem('account_changed');
    expect(await as({}, ACCOUNTS, 'POST')).toBeProblem('method_not_allowed');
    expect(await as({}, '/exports/keys.csv')).not.toMatchObject({ status: 200 });
    for (const query of [
      'input=',
      'input=%7B',
      'input=[]',
      'input=%7B%22email%22%3A%22%5Cu0000%22%7D',
      'input=1&input=2',
      'inptu=%7B%7D',
      'input=%7B%22emial%22%3A%22a%22%7D',
      'input=%7B%22cursor%22%3A%22a%22%7D',
    ])
      expect(await as({}, `${ACCOUNTS}?${query}`), query).toBeProblem('validation_failed');
    for (const input of [{ email: 'a', name: 'b' }, { name: 'a', sort: 'email' }, { sort: 'password' }, { planId: 1 }])
      expect(await as({}, pathOf('planId' in input ? TEAMS : ACCOUNTS, input)), JSON.stringify(input)).toBeProblem(
        'validation_failed',
      );
    expect(
      await api.rows(`select 1 from audit_event where event = 'operator.list_exported' and actor_id = $1`, [
        operator.id,
      ]),
    ).toEqual([]);
    await expect.poll(() => exportsRunning(api)).toEqual([]);
  });
});
