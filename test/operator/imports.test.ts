import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import type { OperatorScope } from '../../src/entities/index.ts';
import { importTasks } from '../../src/resources/imports/upload-job.ts';
import { UPLOAD_BYTES_MAX } from '../../src/resources/imports/upload.service.ts';
import { startWorker, type Worker } from '../../src/jobs/worker.ts';
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
async function startJobs(api: Api): Promise<Worker> {
  const log = openLog('silent', process.stdout);
  const mailer = { send: () => Promise.reject(new Error('An import sends no email.')), close: () => undefined };
  const worker = await startWorker(api.services, mailer, log, importTasks(api.services, log));
  onTestFinished(() => worker.stop());
  return worker;
}

async function ended(report: () => Promise<Answer['body']>): Promise<Answer['body']> {
  for (const deadline = Date.now() + 25_000; Date.now() < deadline;) {
    const found = await report();
    if (found.finishedAt !== null) return found;
  }
  throw new Error('The import does not end.');
}

/** Uploads rows, and returns the report when they are imported. */
async function importAll(api: Api, rows: Rows, query = '') {
  const importer = await anImporter(api);
  const answer = await importer.upload(rows, { query });
  expect([answer.status, answer.body.status]).toEqual([202, 'queued']);
  await startJobs(api);
  return ended(() => importer.report(answer.body.id));
}

const storedContent = (api: Api, { id }: { id: string }) =>
  api.rows('select 1 from import_content where import_id in (select id from import_run where operator_key_id = $1)', [
    id,
  ]);

describe('an upload', () => {
  test('is imported by a job, with one event of the operator key', async ({ api }) => {
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
    const events = await api.rows(
      `select details from audit_event where event = 'operator.import_started' and actor_kind = 'operator_key' and details->>'number' = '5'`,
    );
    expect(events).toHaveLength(1);
    expect(await api.rows('select 1 from import_content where import_id = $1', [report.id])).toEqual([]);
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

  test('whose data the database rejects fails at once, and its key can upload again', async ({ api }) => {
    const p = aPrefix();
    await api.rows(
      `create function "reject_${p}"() returns trigger language plpgsql as
       $$ begin raise exception 'cannot be stored' using errcode = '22P05'; end $$`,
    );
    await api.rows(
      `create trigger "reject_${p}" before insert on account for each row when (new.external_id = '${p}a')
       execute function "reject_${p}"()`,
    );
    const importer = await anImporter(api);
    const { body } = await importer.upload([account(`${p}a`)]);
    await startJobs(api);
    expect(await ended(() => importer.report(body.id))).toMatchObject({ status: 'failed', failure: 'internal_error' });
    expect((await importer.upload([account(`${p}b`)])).status).toBe(202);
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
    await startJobs(api);
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

    await startJobs(api);
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
    await expect.poll(isStored, { timeout: 10_000 }).toBe(true);
    expect(await importer.upload([account(aPrefix())])).toBeProblem('import_running');
    socket.destroy();
    await expect.poll(isStored, { timeout: 10_000 }).toBe(false);
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
      await expect.poll(() => answer, { timeout: 20_000 }).toContain('413 ');
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
    await expect.poll(async () => (await opened()).length, { timeout: 10_000 }).toBe(1);
    await api.rows('update operator_key set revoked_at = now() where id = $1', [importer.key.id]);
    socket.write(body.slice(10));
    await expect.poll(() => answer, { timeout: 10_000 }).toContain('401 ');
    expect(await opened()).toEqual([]);
  });

  test('ends without a further row when its key is revoked', async ({ api }) => {
    const importer = await anImporter(api);
    const p = aPrefix();
    const { body } = await importer.upload([account(`${p}a`)]);
    await api.rows('update operator_key set revoked_at = now() where id = $1', [importer.key.id]);
    await startJobs(api);
    const run = () =>
      api.rows<{ failure: string | null }>('select failure from import_run where id = $1 and finished_at is not null', [
        body.id,
      ]);
    await expect.poll(run, { timeout: 25_000 }).toEqual([{ failure: 'key_revoked' }]);
    expect(await api.rows('select 1 from account where external_id = $1', [`${p}a`])).toEqual([]);
    expect(await storedContent(api, importer.key)).toEqual([]);
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
