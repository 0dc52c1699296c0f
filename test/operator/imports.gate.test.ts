import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import type { OperatorScope } from '../../src/entities/index.ts';
import { startJobs } from '../../src/service/background.ts';
import { UPLOAD_BYTES_MAX } from '../../src/resources/imports/upload.service.ts';
import type { Worker } from '../../src/jobs/worker.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { account, aPrefix, membership, team } from '../cli/import-file.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';

const IMPORTS = '/operator/v1/imports';
const SCOPES: readonly OperatorScope[] = ['accounts:write', 'teams:write', 'billing:write'];
const test = testWith(() => startApi());

type Rows = readonly (object | string)[];

const toBody = (rows: Rows): string =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');

async function anImporter(api: Api) {
  const key = await api.anOperatorKey({ scopes: SCOPES });
  const caller = api.as(key);
  return {
    key,
    upload: (rows: Rows | Buffer, { query = '', type = 'application/x-ndjson', headers = {} } = {}): Promise<Answer> =>
      caller.send({
        method: 'POST',
        path: `${IMPORTS}${query}`,
        headers: { 'content-type': type, ...headers },
        body: Buffer.isBuffer(rows) ? rows : toBody(rows),
      }),
    report: async (id: string, query = ''): Promise<Answer['body']> =>
      (await caller.get(`${IMPORTS}/${id}${query}`)).body,
  };
}

/** Works on the queue until the test ends. */
async function workOn(api: Api): Promise<Worker> {
  const log = openLog('silent', process.stdout);
  const mailer = { send: () => Promise.resolve(), close: () => undefined };
  const worker = await startJobs(api.services, mailer, log);
  onTestFinished(() => worker.stop());
  return worker;
}

async function ended(report: () => Promise<Answer['body']>): Promise<Answer['body']> {
  let found: Answer['body'];
  // Not faster: the requests of an operator key are limited.
  await expect.poll(async () => (found = await report()).finishedAt, { interval: 50 }).toEqual(expect.any(String));
  return found;
}

/** Uploads rows, and returns the report when they are imported. */
async function importAll(api: Api, rows: Rows, query = '') {
  const importer = await anImporter(api);
  const answer = await importer.upload(rows, { query });
  // A worker of an earlier import of the test can take it before the answer is read.
  expect([answer.status, answer.body.status]).toEqual([202, expect.stringMatching(/^(queued|running)$/)]);
  await workOn(api);
  return ended(() => importer.report(answer.body.id));
}

/** Rejects accounts with such external ids, as a trigger of the operator could. */
async function rejectAccounts(api: Api, prefix: string, state: string): Promise<void> {
  await api.rows(
    `create function "reject_${prefix}"() returns trigger language plpgsql as
     $$ begin raise exception 'cannot be stored' using errcode = '${state}'; end $$`,
  );
  await api.rows(
    `create trigger "reject_${prefix}" before insert on account for each row
     when (starts_with(new.external_id, '${prefix}bad')) execute function "reject_${prefix}"()`,
  );
}

const storedContent = (api: Api, { id }: { id: string }) =>
  api.rows('select 1 from import_content where import_id in (select id from import_run where operator_key_id = $1)', [
    id,
  ]);

describe('an upload', () => {
  test('is imported by a job, with the events of what it creates, as changes of the operator key', async ({ api }) => {
    const p = aPrefix();
    const { secret, keyPrefix, last4 } = api.services.tokens.generate('personalKey');
    const rows = [
      {
        type: 'apiKey',
        account: `${p}a`,
        name: 'k',
        scopes: ['teams:read'],
        secretHash: hashSecret(secret).toString('hex'),
        keyPrefix,
        last4,
      },
      membership(`${p}t`, `${p}b`),
      team(`${p}t`, `${p}a`, { plan: 'pro' }),
      account(`${p}a`, { emailVerified: true }),
      account(`${p}b`),
    ];
    const report = await importAll(api, rows);

    expect(report).toMatchObject({
      status: 'completed',
      isDryRun: false,
      failure: null,
      lines: 5,
      imported: { accounts: 2, teams: 1, memberships: 1, apiKeys: 1 },
      existing: 0,
      refused: 0,
      refusals: [],
      next: null,
    });
    const teams = await api.as(secret).get('/api/v1/teams');
    expect(teams.body.map(({ name }: { name: string }) => name)).toEqual(['Acme']);
    const events = await api.rows<{ event: string; details: object }>(
      `select event, details from audit_event where actor_kind = 'operator_key'
         and credential_id = (select operator_key_id from import_run where id = $1) order by id`,
      [report.id],
    );
    expect(events.map(({ event }) => event)).toEqual([
      'operator.import_started',
      'account.created',
      'account.created',
      'team.created',
      'member.added',
      'team.plan_set',
      'member.added',
      'api_key.created',
      'import.completed',
    ]);
    expect([events[0]?.details, events.at(-1)?.details]).toEqual([{ number: 5 }, { number: 5, isSilent: false }]);
    expect(await api.rows('select 1 from import_content where import_id = $1', [report.id])).toEqual([]);
  });

  test('that is silent records only what it adds to accounts and teams that it did not create', async ({ api }) => {
    const [p, q] = [aPrefix(), aPrefix()];
    await importAll(api, [account(`${p}a`), team(`${p}t`, `${p}a`)]);

    const silent = await importAll(
      api,
      [account(`${q}a`), team(`${q}t`, `${q}a`), membership(`${p}t`, `${q}a`)],
      '?silent=true',
    );

    expect(silent).toMatchObject({ isSilent: true, imported: { accounts: 1, teams: 1, memberships: 1 } });
    const events = await api.rows(
      `select event, team_id = (select id from team where external_id = $2) as is_known from audit_event
       where credential_id = (select operator_key_id from import_run where id = $1) order by id`,
      [silent.id, `${p}t`],
    );
    expect(events).toEqual([
      { event: 'operator.import_started', is_known: null },
      { event: 'member.added', is_known: true },
      { event: 'import.completed', is_known: null },
    ]);
  });

  test('reports each refused row with its line and reason, in pages', async ({ api }) => {
    const p = aPrefix();
    const report = await importAll(api, [
      account(`${p}a`),
      '{',
      '[]',
      { type: 'user' },
      account(`${p}b`, { email: 'no address' }),
      '',
      account(`${p}c`, { email: `${p}a@example.com` }),
      account(`${p}a`),
      team(`${p}t`, `${p}unknown`),
      'x'.repeat(1024 * 1024 + 1),
      membership(`${p}t`, `${p}a`),
    ]);
    expect(report).toMatchObject({
      status: 'completed',
      lines: 11,
      imported: { accounts: 1, teams: 0 },
      existing: 1,
      refused: 8,
    });
    expect(
      report.refusals.map((one: Record<string, unknown>) => [
        one['number'],
        one['line'],
        one['type'],
        one['externalId'],
        one['code'],
      ]),
    ).toEqual([
      [1, 2, null, null, 'malformed_json'],
      [2, 3, null, null, 'malformed_json'],
      [3, 4, null, null, 'unknown_type'],
      [4, 5, 'account', `${p}b`, 'invalid'],
      [5, 7, 'account', `${p}c`, 'email_taken'],
      [6, 10, null, null, 'line_too_long'],
      [7, 9, 'team', `${p}t`, 'unknown_account'],
      [8, 11, 'membership', null, 'unknown_team'],
    ]);
  });

  test('reports rows whose ids cannot be stored, and imports the others', async ({ api }) => {
    const p = aPrefix();
    const ids = ['\u0000', '\ud800', '', 'x'.repeat(256), 7, {}];
    const report = await importAll(api, [
      ...ids.map((externalId) => ({ ...account(`${p}a`), externalId })),
      team(`${p}t`, '\u0000'),
      membership('\ud800', `${p}a`),
      account(`${p}a`),
    ]);
    expect(report).toMatchObject({ status: 'completed', imported: { accounts: 1 }, refused: 8 });
    expect(
      report.refusals.map((one: Record<string, unknown>) => [one['line'], one['externalId'], one['code']]),
    ).toEqual([...ids.map((_, index) => [index + 1, null, 'invalid']), [7, `${p}t`, 'invalid'], [8, null, 'invalid']]);
  });

  test('reports rows that the database rejects with line and reason, and imports all others', async ({ api }) => {
    const p = aPrefix();
    await rejectAccounts(api, p, '22P05');
    const rows = Array.from({ length: 250 }, (_, i) => account(`${p}${[3, 77, 250].includes(i + 1) ? 'bad' : ''}${i}`));
    const report = await importAll(api, [...rows, team(`${p}t`, `${p}0`)]);
    expect(report).toMatchObject({
      status: 'completed',
      imported: { accounts: 247, teams: 1 },
      refused: 3,
      failure: null,
      failureDetail: null,
    });
    expect(report.refusals).toEqual(
      [3, 77, 250].map((line, i) => ({
        number: i + 1,
        line,
        type: 'account',
        externalId: `${p}bad${line - 1}`,
        code: 'rejected',
        detail: 'The database rejected the row: cannot be stored (SQLSTATE 22P05)',
      })),
    );
  });

  test('of which the database rejects more than 100 rows fails with the line and the reason', async ({ api }) => {
    const p = aPrefix();
    await rejectAccounts(api, p, 'P0001');
    const importer = await anImporter(api);
    const rows = Array.from({ length: 150 }, (_, i) => account(`${p}bad${i}`));
    const { body } = await importer.upload([account(`${p}a`), ...rows]);
    await workOn(api);
    expect(await ended(() => importer.report(body.id))).toMatchObject({
      status: 'failed',
      failure: 'internal_error',
      failureDetail: 'After line 101 of the rows of type account: cannot be stored (SQLSTATE P0001)',
      imported: { accounts: 1 },
      refused: 100,
    });
    expect(await storedContent(api, importer.key)).toEqual([]);
    expect((await importer.upload([account(`${p}b`)])).status).toBe(202);
    expect(
      await api.rows(`select details from audit_event where event = 'import.failed' and target_id = $1`, [body.id]),
    ).toEqual([{ details: { number: 1, isSilent: false, reason: 'internal_error' } }]);
  });

  test('that fails for another reason ends after eight attempts, with the line and the reason', async ({ api }) => {
    const p = aPrefix();
    await rejectAccounts(api, p, '53100');
    const importer = await anImporter(api);
    const { body } = await importer.upload([account(`${p}bad`)]);
    await workOn(api);
    // Each wait is made shorter, because together they take half an hour.
    await expect
      .poll(
        async () => {
          await api.rows(
            `update graphile_worker._private_jobs set run_at = now() where key = $1 and locked_at is null`,
            [`import:${body.id}`],
          );
          await api.rows(`select pg_notify('jobs:insert', '{"r":"x","count":1}')`);
          return (await importer.report(body.id)).status;
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe('failed');
    expect(await importer.report(body.id)).toMatchObject({
      failure: 'internal_error',
      failureDetail: 'After line 0 of the rows of type account: cannot be stored (SQLSTATE 53100)',
    });
  });

  test('is canceled: no row is imported afterwards, and its key can upload again', async ({ api }) => {
    const p = aPrefix();
    const importer = await anImporter(api);
    const [queued, foreign] = [await importer.upload([account(`${p}a`)]), await anImporter(api)];
    const path = `/operator/v1/imports/${queued.body.id}/cancel`;
    expect(await api.as(foreign.key).post(path)).toBeProblem('import_not_found');
    expect(await api.as(importer.key).post('/operator/v1/imports/unknown/cancel')).toBeProblem('import_not_found');

    const answers = await Promise.all([1, 2, 3].map(() => api.as(importer.key).post(path)));
    for (const { status, body } of answers)
      expect([status, body.status, body.failure]).toEqual([200, 'canceled', 'canceled']);
    expect(await storedContent(api, importer.key)).toEqual([]);
    expect(
      await api.rows(`select event from audit_event where target_id = $1 and credential_id = $2 order by id`, [
        queued.body.id,
        importer.key.id,
      ]),
    ).toEqual([{ event: 'operator.import_started' }, { event: 'operator.import_canceled' }]);

    const next = await importer.upload([account(`${p}b`)]);
    await workOn(api);
    expect(await ended(() => importer.report(next.body.id))).toMatchObject({ status: 'completed' });
    expect(await importer.report(queued.body.id)).toMatchObject({ status: 'canceled', imported: { accounts: 0 } });
    expect(await api.rows('select 1 from account where external_id = $1', [`${p}a`])).toEqual([]);
    const late = await api.as(importer.key).post(`/operator/v1/imports/${next.body.id}/cancel`);
    expect([late.status, late.body.status]).toEqual([200, 'completed']);
  });

  test('that runs is canceled between two batches', async ({ api }) => {
    const p = aPrefix();
    const importer = await anImporter(api);
    const { body } = await importer.upload(Array.from({ length: 60_000 }, (_, i) => account(`${p}${i}`)));
    await workOn(api);
    await expect.poll(async () => (await importer.report(body.id)).line).toBeGreaterThan(0);
    const canceled = await api.as(importer.key).post(`/operator/v1/imports/${body.id}/cancel`);
    expect(canceled.body).toMatchObject({ status: 'canceled' });
    const count = () =>
      api.rows<{ count: number }>('select count(*)::int from account where starts_with(external_id, $1)', [p]);
    expect(await count()).toEqual([{ count: canceled.body.imported.accounts }]);
    expect(canceled.body.imported.accounts).toBeLessThan(60_000);
    // Its job ends without a further row, so the next import runs.
    const next = await importer.upload([account(`x${p}`)]);
    expect(await ended(() => importer.report(next.body.id))).toMatchObject({ status: 'completed' });
    expect(await count()).toEqual([{ count: canceled.body.imported.accounts }]);
  });

  test('has at most one line per 32 bytes of its largest size, so that its report is bounded', async ({ api }) => {
    const importer = await anImporter(api);
    const most = UPLOAD_BYTES_MAX / 32;
    expect(await importer.upload(Buffer.alloc(most + 1, '\n'))).toBeProblem('body_too_large');
    expect(await storedContent(api, importer.key)).toEqual([]);
    expect(await importer.upload(Buffer.alloc(most, '\n'))).toBeProblem('validation_failed');
  });

  test('has a report whose pages hold every refused row once', async ({ api }) => {
    const importer = await anImporter(api);
    const { body } = await importer.upload(Array.from({ length: 250 }, () => '{'));
    await workOn(api);
    await ended(() => importer.report(body.id));
    const lines: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page: Answer['body'] = await importer.report(body.id, `?after=${after}&limit=100`);
      lines.push(...page.refusals.map(({ line }: { line: number }) => line));
      after = page.next;
    }
    expect(lines).toEqual(Array.from({ length: 250 }, (_, index) => index + 1));
  });

  test('that is a dry run changes nothing and records nothing', async ({ api }) => {
    const p = aPrefix();
    const count = () =>
      api.rows(
        `select (select count(*) from account), (select count(*) from team), (select count(*) from audit_event where event like 'operator.import%')`,
      );
    const before = await count();
    const rows = [account(`${p}a`), account(`${p}a`), team(`${p}t`, `${p}a`), membership(`${p}t`, `${p}b`)];
    expect(await importAll(api, rows, '?dryRun=true')).toMatchObject({
      isDryRun: true,
      imported: { accounts: 1, teams: 1, memberships: 0 },
      existing: 1,
      refused: 1,
      refusals: [{ line: 4, code: 'unknown_account' }],
    });
    expect(await count()).toEqual(before);
  });

  test('can be repeated', async ({ api }) => {
    const p = aPrefix();
    const rows = [account(`${p}a`), team(`${p}t`, `${p}a`), membership(`${p}t`, `${p}a`, { role: 'owner' })];
    expect(await importAll(api, rows)).toMatchObject({ imported: { accounts: 1, teams: 1 }, existing: 1, refused: 0 });
    expect(await importAll(api, rows)).toMatchObject({ imported: { accounts: 0, teams: 0 }, existing: 3, refused: 0 });
  });

  test('is one at a time for a key: of two at once one is accepted, and the other names it', async ({ api }) => {
    const importer = await anImporter(api);
    const answers = await Promise.all([1, 2, 3].map(() => importer.upload([account(aPrefix())])));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 202)) {
      expect(answer).toBeProblem('import_running');
      expect(answer.body.detail).toContain(accepted[0]?.body.id);
    }
    const other = await anImporter(api);
    expect((await other.upload([account(aPrefix())])).status).toBe(202);

    await workOn(api);
    await ended(() => importer.report(accepted[0]?.body.id));
    expect((await importer.upload([account(aPrefix())])).status).toBe(202);
  });

  test('of which the client hangs up in the middle leaves nothing, and the next one is accepted', async ({ api }) => {
    const importer = await anImporter(api);
    const half = toBody(Array.from({ length: 8000 }, (_, index) => account(`${aPrefix()}${index}`)));
    expect(half.length).toBeGreaterThan(512 * 1024);
    const socket = connect(api.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST ${IMPORTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${importer.key.secret}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${half.length * 2}\r\n\r\n${half}`,
    );
    const isStored = async () => (await storedContent(api, importer.key)).length > 0;
    await expect.poll(isStored).toBe(true);
    expect(await importer.upload([account(aPrefix())])).toBeProblem('import_running');
    socket.destroy();
    await expect.poll(isStored).toBe(false);
    expect(await api.rows('select 1 from import_run where operator_key_id = $1', [importer.key.id])).toEqual([]);
    expect((await importer.upload([account(aPrefix())])).status).toBe(202);
  });

  test('that a killed process left incomplete blocks its key for two minutes', async ({ api }) => {
    const importer = await anImporter(api);
    const leave = (age: string) =>
      api.rows(
        `insert into import_run (id, created_at, updated_at, fingerprint, stage, line, counts, report_bytes, batches, operator_key_id)
         values ($1, now(), now() - $2::interval, '', 'account', 0, '{}', 0, 0, $3)`,
        [`imp_${age}`, age, importer.key.id],
      );
    await leave('119 seconds');
    expect(await importer.upload([account(aPrefix())])).toBeProblem('import_running');
    await api.rows('delete from import_run where operator_key_id = $1', [importer.key.id]);
    await leave('121 seconds');
    expect((await importer.upload([account(aPrefix())])).status).toBe(202);
  });

  test.for([
    ['without a body', Buffer.alloc(0), 'application/x-ndjson', 'validation_failed'],
    ['of empty lines only', Buffer.from('\ufeff\n\r\n\n\r'), 'application/x-ndjson', 'validation_failed'],
    ['of half a million empty lines', Buffer.alloc(1024 * 1024, '\r\n'), 'application/x-ndjson', 'validation_failed'],
    ['of another type', Buffer.from('{}'), 'application/json', 'unsupported_media_type'],
    ['without a type', Buffer.from('{}'), '', 'unsupported_media_type'],
  ] as const)('%s is refused, and leaves nothing', async ([, body, type, code], { api }) => {
    const importer = await anImporter(api);
    const answer = await importer.upload(body, { type });
    expect(answer).toBeProblem(code);
    if (code === 'validation_failed') expect(answer.body.errors[0]).toMatchObject({ in: 'body', code: 'required' });
    expect(await api.rows('select 1 from import_run where operator_key_id = $1', [importer.key.id])).toEqual([]);
  });

  test('is accepted if its only row comes after many empty lines', async ({ api }) => {
    const p = aPrefix();
    const importer = await anImporter(api);
    const body = Buffer.concat([
      Buffer.alloc(1024 * 1024, '\r\n'),
      Buffer.from(JSON.stringify(account(`${p}a`))),
      Buffer.alloc(1024 * 1024, '\n'),
    ]);
    const { status, body: queued } = await importer.upload(body);
    expect([status, queued.lines]).toEqual([202, 3 * 512 * 1024]);
  });

  test('with a content coding is refused', async ({ api }) => {
    const importer = await anImporter(api);
    const answer = await importer.upload(Buffer.from('{}'), { headers: { 'content-encoding': 'gzip' } });
    expect(answer).toBeProblem('unsupported_media_type');
  });

  test.for(['announced', 'sent'] as const)(
    'of which too many bytes are %s is refused, and leaves nothing',
    async (kind, { api }) => {
      const importer = await anImporter(api);
      const announced: Record<string, string> = { 'content-length': String(UPLOAD_BYTES_MAX + 1) };
      const socket = connect(api.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      const head = Object.entries(kind === 'announced' ? announced : { 'transfer-encoding': 'chunked' });
      socket.write(
        `POST ${IMPORTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${importer.key.secret}\r\nContent-Type: application/x-ndjson\r\n${head.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n`,
      );
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      const mebibyte = Buffer.concat([
        Buffer.from('100000\r\n'),
        Buffer.alloc(1024 * 1024, '{}\n'),
        Buffer.from('\r\n'),
      ]);
      for (let sent = 0; kind === 'sent' && sent <= UPLOAD_BYTES_MAX && answer === ''; sent += 1024 * 1024)
        if (!socket.write(mebibyte)) await once(socket, 'drain');
      await expect.poll(() => answer).toContain('413 ');
      expect(answer).toContain('"body_too_large"');
      expect(await api.rows('select 1 from import_run where operator_key_id = $1', [importer.key.id])).toEqual([]);
    },
  );

  test('is not accepted if its key was revoked while it was sent', async ({ api }) => {
    const importer = await anImporter(api);
    const body = toBody([account(aPrefix())]);
    const socket = connect(api.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(
      `POST ${IMPORTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${importer.key.secret}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    const opened = () => api.rows('select 1 from import_run where operator_key_id = $1', [importer.key.id]);
    await expect.poll(async () => (await opened()).length).toBe(1);
    await api.rows('update operator_key set revoked_at = now() where id = $1', [importer.key.id]);
    socket.write(body.slice(10));
    await expect.poll(() => answer).toContain('401 ');
    expect(await opened()).toEqual([]);
  });

  test.for([
    ['is revoked', 'revoked_at', 'key_revoked'],
    ['expires', 'expires_at', 'key_expired'],
  ] as const)('ends without a further row when its key %s', async ([, column, failure], { api }) => {
    const importer = await anImporter(api);
    const p = aPrefix();
    const { body } = await importer.upload([account(`${p}a`)]);
    await api.rows(`update operator_key set ${column} = now() - interval '1 ms' where id = $1`, [importer.key.id]);
    await workOn(api);
    const run = () =>
      api.rows<{ failure: string | null }>('select failure from import_run where id = $1 and finished_at is not null', [
        body.id,
      ]);
    await expect.poll(run).toEqual([{ failure }]);
    expect(await api.rows('select 1 from account where external_id = $1', [`${p}a`])).toEqual([]);
    expect(await storedContent(api, importer.key)).toEqual([]);
  });
});

describe('an upload with an Idempotency-Key', () => {
  const withKey = (key: string, query = '') => ({ query, headers: { 'idempotency-key': key } });
  const runsOf = (api: Api, { id }: { id: string }) =>
    api.rows<{ id: string }>('select id from import_run where operator_key_id = $1', [id]);
  const eventsOf = (api: Api, { id }: { id: string }) =>
    api.rows(`select 1 from audit_event where event = 'operator.import_started' and credential_id = $1`, [id]);
  const endImports = (api: Api, { id }: { id: string }) =>
    api.rows('update import_run set finished_at = now() where operator_key_id = $1', [id]);

  test('takes every offset of a time, in a dry run and in the import', async ({ api }) => {
    const p = aPrefix();
    const rows = ['-23:59', '+23:59', 'Z'].map((offset, i) =>
      account(`${p}${i}`, { createdAt: `2020-02-02T12:00:00${offset}`, emailVerified: `2020-02-02T12:00:00${offset}` }),
    );
    for (const query of ['?dryRun=true', ''])
      expect(await importAll(api, rows, query)).toMatchObject({ status: 'completed', imported: { accounts: 3 } });
    expect(
      await api.rows(
        `select created_at at time zone 'UTC' = email_verified_at at time zone 'UTC' as equal,
           to_char(created_at at time zone 'UTC', 'DD HH24:MI') as at
         from account where starts_with(external_id, $1) order by external_id`,
        [p],
      ),
    ).toEqual(['03 11:59', '01 12:01', '02 12:00'].map((at) => ({ equal: true, at })));
  });

  test('imports no key of the account of an operator', async ({ api }) => {
    const p = aPrefix();
    await importAll(api, [account(`${p}a`), account(`${p}b`)]);
    await api.rows(`update account set role = 'admin' where external_id = $1`, [`${p}a`]);
    const key = (of: string) => ({
      type: 'apiKey',
      account: of,
      name: 'A key',
      scopes: ['teams:read'],
      secretHash: hashSecret(of).toString('hex'),
      keyPrefix: 'rst_pk_abcdef',
      last4: 'abcd',
    });

    for (const query of ['?dryRun=true', '']) {
      const report = await importAll(api, [key(`${p}a`), key(`${p}b`)], query);
      expect(report).toMatchObject({ imported: { apiKeys: 1 }, refused: 1 });
      expect(JSON.stringify(report)).toContain('operator_account');
    }
  });

  test('is imported once, and has the same answer again while it is imported and afterwards', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    const first = await importer.upload(rows, withKey('once'));
    const queued = await importer.upload(rows, withKey('"once"'));
    await workOn(api);
    expect(await ended(() => importer.report(first.body.id))).toMatchObject({ imported: { accounts: 1 } });
    const later = await importer.upload(rows, withKey('once'));

    expect([first.status, first.body.status]).toEqual([202, 'queued']);
    for (const again of [queued, later]) expect([again.status, again.text]).toEqual([202, first.text]);
    expect(await runsOf(api, importer.key)).toEqual([{ id: first.body.id }]);
    expect(await eventsOf(api, importer.key)).toHaveLength(1);
    expect(await storedContent(api, importer.key)).toEqual([]);
  });

  test('is refused with other rows or another query, while it is imported and afterwards', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    const first = await importer.upload(rows, withKey('k'));
    const others = async () => [
      await importer.upload([account(aPrefix())], withKey('k')),
      await importer.upload([...rows, ''], withKey('k')),
      await importer.upload(rows, withKey('k', '?dryRun=true')),
    ];
    for (const answer of await others()) expect(answer).toBeProblem('idempotency_key_reused');
    await endImports(api, importer.key);
    for (const answer of await others()) expect(answer).toBeProblem('idempotency_key_reused');

    expect((await importer.upload(rows, withKey('k', '?dryRun=false'))).text).toBe(first.text);
    expect(await runsOf(api, importer.key)).toEqual([{ id: first.body.id }]);
  });

  test('that is another one waits for the end of the first like any upload', async ({ api }) => {
    const importer = await anImporter(api);
    await importer.upload([account(aPrefix())], withKey('k'));
    expect(await importer.upload([account(aPrefix())], withKey('l'))).toBeProblem('import_running');
    await endImports(api, importer.key);
    expect((await importer.upload([account(aPrefix())], withKey('l'))).status).toBe(202);
  });

  test('belongs to its operator key', async ({ api }) => {
    const [one, other] = [await anImporter(api), await anImporter(api)];
    const rows = [account(aPrefix())];
    const [first, second] = [await one.upload(rows, withKey('k')), await other.upload(rows, withKey('k'))];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('is a new one after 24 hours', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    const first = await importer.upload(rows, withKey('k'));
    await endImports(api, importer.key);
    await setAge(api, importer.key, '23 hours 59 minutes');
    expect((await importer.upload(rows, withKey('k'))).text).toBe(first.text);
    await setAge(api, importer.key, '24 hours');
    const second = await importer.upload(rows, withKey('k'));
    expect(second.status).toBe(202);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('that fails stores nothing, and the next one with the key is accepted', async ({ api }) => {
    const importer = await anImporter(api);
    expect(await importer.upload(['', ''], withKey('k'))).toBeProblem('validation_failed');
    const answer = await importer.upload([account(aPrefix())], withKey('k'));
    expect(answer.status).toBe(202);
    expect(await runsOf(api, importer.key)).toEqual([{ id: answer.body.id }]);
  });

  test('is accepted together with its key, or not at all', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    await api.rows(`create function cut_off() returns trigger language plpgsql
      as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
    await api.rows(`create trigger cut_off before update on idempotency_key for each row execute function cut_off()`);
    const broken = await importer.upload(rows, withKey('k'));
    await api.rows('drop trigger cut_off on idempotency_key');
    expect(broken).toBeProblem('service_unavailable');
    expect(await runsOf(api, importer.key)).toEqual([]);
    expect(await eventsOf(api, importer.key)).toEqual([]);

    expect((await importer.upload(rows, withKey('k'))).status).toBe(202);
  });

  test('sent 20 times at once, over two replicas, is imported once', async ({ api }) => {
    const replica = await startApi({}, api);
    onTestFinished(() => replica.close());
    const importer = await anImporter(api);
    const body = toBody([account(aPrefix())]);
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'k' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? api : replica).as(importer.key).send({ method: 'POST', path: IMPORTS, headers, body }),
      ),
    );
    const accepted = answers.filter(({ status }) => status === 202);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers) if (!accepted.includes(answer)) expect(answer).toBeProblem('import_running');
    expect(await runsOf(api, importer.key)).toEqual([{ id: accepted[0]?.body.id }]);
    expect(await eventsOf(api, importer.key)).toHaveLength(1);
  });

  /** Sends the head and half of the body; the function that is returned sends the rest. @returns once it is received */
  async function startUpload(api: Api, importer: Awaited<ReturnType<typeof anImporter>>, body: string) {
    const before = (await runsOf(api, importer.key)).length;
    const socket = connect(api.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(
      `POST ${IMPORTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${importer.key.secret}\r\nContent-Type: application/x-ndjson\r\nIdempotency-Key: k\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await expect.poll(async () => (await runsOf(api, importer.key)).length).toBe(before + 1);
    return async () => {
      socket.write(body.slice(10));
      await expect.poll(() => answer).toContain('}');
      return answer;
    };
  }

  test('is import_running while the first is received, and then has its answer', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    const finish = await startUpload(api, importer, toBody(rows));
    expect(await importer.upload(rows, withKey('k'))).toBeProblem('import_running');
    const first = await finish();
    expect(first).toContain(' 202 ');
    expect(first).toContain((await importer.upload(rows, withKey('k'))).text);
  });

  test('has the answer of an equal one that was accepted and ended while it was received', async ({ api }) => {
    const importer = await anImporter(api);
    const rows = [account(aPrefix())];
    const first = await importer.upload(rows, withKey('k'));
    await endImports(api, importer.key);
    await setAge(api, importer.key, '25 hours'); // so that the look-up does not find it
    const finish = await startUpload(api, importer, toBody(rows));
    await setAge(api, importer.key, '1 second');

    expect(await finish()).toContain(first.text);
    expect(await runsOf(api, importer.key)).toEqual([{ id: first.body.id }]);
  });

  test.for(['', 'two words', 'x'.repeat(256)])('%j is a 400, and nothing is stored', async (key, { api }) => {
    const importer = await anImporter(api);
    const answer = await importer.upload([account(aPrefix())], withKey(key));
    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual([expect.objectContaining({ in: 'header', pointer: '/Idempotency-Key' })]);
    expect(await runsOf(api, importer.key)).toEqual([]);
  });
});

test('the document declares the query and the Idempotency-Key of an upload', async ({ api }) => {
  const { body } = await api.as(await api.anOperatorKey()).get('/operator/v1/openapi.json');
  const { parameters, responses } = body.paths[IMPORTS].post;
  expect(parameters.map((one: { name: string; in: string }) => [one.in, one.name])).toEqual([
    ['query', 'dryRun'],
    ['query', 'silent'],
    ['header', 'Idempotency-Key'],
  ]);
  expect(JSON.stringify(responses['400'])).toContain('idempotency_key_reused');
});

const setAge = (api: Api, { id }: { id: string }, age: string) =>
  api.rows('update idempotency_key set created_at = now() - $1::interval where credential_id = $2', [age, id]);

describe('the query of an upload', () => {
  test.for([
    ['dryrun=true', ['/dryrun']],
    ['dryRun=true&dry_run=true', ['/dry_run']],
    ['dry%52un=true&a/b=1&&force', ['/a~1b', '/force']],
    ['constructor=1&=x', ['/constructor', '/']],
    ['dryRun=yes&x=1', ['/x', '/dryRun']],
  ] as const)('%s is refused, naming what it cannot have', async ([query, pointers], { api }) => {
    const importer = await anImporter(api);
    const answer = await importer.upload([account(aPrefix())], { query: `?${query}` });
    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual(pointers.map((pointer) => expect.objectContaining({ in: 'query', pointer })));
    expect(await api.rows('select 1 from import_run where operator_key_id = $1', [importer.key.id])).toEqual([]);
  });

  test.for(['?', '?&', '?&dryRun=true&'])('%s is accepted', async (query, { api }) => {
    const importer = await anImporter(api);
    const answer = await importer.upload([account(aPrefix())], { query });
    expect([answer.status, answer.body.isDryRun]).toEqual([202, query.includes('true')]);
  });
});

describe('the report of an import', () => {
  test('is one of its own key only', async ({ api }) => {
    const importer = await anImporter(api);
    const { body } = await importer.upload([account(aPrefix())]);
    const stranger = api.as(await api.anOperatorKey());
    expect(await stranger.get(`${IMPORTS}/${body.id}`)).toBeProblem('import_not_found');
    await api.rows(
      `insert into import_run (id, created_at, updated_at, fingerprint, stage, line, counts, report_bytes, batches)
       values ('imp_of_the_cli', now(), now(), 'x', 'account', 0, '{}', 0, 0)`,
    );
    expect(await stranger.get(`${IMPORTS}/imp_of_the_cli`)).toBeProblem('import_not_found');
  });

  test.for(['after=-1', 'after=x', 'limit=0', 'limit=1001'])('with %s is a 400', async (query, { api }) => {
    const caller = api.as(await api.anOperatorKey());
    expect(await caller.get(`${IMPORTS}/unknown?${query}`)).toBeProblem('validation_failed');
  });
});

test('over /trpc there is no body of rows', async ({ api }) => {
  const answer = await api.as(await api.anOperatorKey()).post('/trpc/operatorApi.createImport', {});
  expect(answer.body.error.data.problem.code).toBe('unsupported_media_type');
});
