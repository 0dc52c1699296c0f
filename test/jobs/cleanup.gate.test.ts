import { expect, test } from 'vitest';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import { eventually, install, levelOf } from './installation.ts';

type Installation = Awaited<ReturnType<typeof install>>;

/** Runs the cleanups one after the other, each until it has succeeded. */
async function cleanUp(roster: Installation, tasks: readonly string[] = Object.keys(CLEANUPS)): Promise<void> {
  await roster.work();
  for (const task of tasks) {
    await roster.rows('select graphile_worker.add_job($1, job_key := $1)', [task]);
    await eventually(async () =>
      expect(await roster.rows('select from graphile_worker.jobs where task_identifier = $1', [task])).toEqual([]),
    );
  }
}

/** The recorded events of a name. */
const events = ({ rows }: Installation, event: string) =>
  rows<{ target: string; reason: string }>(
    `select coalesce(target_id, client_id) as target, details->>'reason' as reason from audit_event
     where event = $1 order by 1`,
    [event],
  );

// Guarantees that the database does not grow forever, and loses nothing that can still be used.
test('cleanups delete expired rows and keep all others', async () => {
  const roster = await install();
  const account = await roster.anAccount();
  const team = await roster.aTeam({ owner: account });
  const { rows } = roster;
  const at = (interval: string) => `now() + interval '${interval}'`;

  for (const [id, expires, idle, revoked] of [
    ['active', '1 day', '1 day', null],
    ['ended-lately', '-6 days', '1 day', null],
    ['expired', '-8 days', '1 day', null],
    ['idle', '1 day', '-8 days', null],
    ['revoked', '1 day', '1 day', '-8 days'],
    ['revoked-lately', '1 day', '1 day', '-6 days'],
  ] as const) {
    await rows(
      `insert into session (id, account_id, token_hash, created_at, expires_at, idle_expires_at, revoked_at)
       values ($1, $2, $3, now(), ${at(expires)}, ${at(idle)}, ${revoked === null ? 'null' : at(revoked)})`,
      [id, account.id, Buffer.from(id)],
    );
  }
  for (const [id, expires] of [
    ['works', '1 hour'],
    ['over', '-1 second'],
  ] as const) {
    await rows(
      `insert into account_token (token_hash, account_id, purpose, email, created_at, expires_at) values ($1, $2, 'verify_email', 'a', now(), ${at(expires)})`,
      [Buffer.from(id), account.id],
    );
    await rows(
      `insert into passkey_challenge (id, challenge, created_at, expires_at) values ($1, $1, now(), ${at(expires)})`,
      [id],
    );
  }
  for (const [id, seen] of [
    ['used', '-364 days'],
    ['forgotten', '-366 days'],
  ] as const) {
    await rows(
      `insert into known_device (id, account_id, token_hash, created_at, last_seen_at) values ($1, $2, $3, now(), ${at(seen)})`,
      [id, account.id, Buffer.from(id)],
    );
  }
  for (const [id, expires, accepted] of [
    ['pending', '1 day', null],
    ['expired', '-29 days', null],
    ['long-past', '-31 days', null],
    ['accepted', '1 day', '-29 days'],
    ['accepted-long-ago', '1 day', '-31 days'],
  ] as const) {
    await rows(
      `insert into invitation (id, team_id, email, role_id, created_at, expires_at, accepted_at) values ($1, $2, $1, 'member', now(), ${at(expires)}, ${accepted === null ? 'null' : at(accepted)})`,
      [id, team.id],
    );
  }
  for (const [id, sent] of [
    ['today', '-24 hours'],
    ['yesterday', '-26 hours'],
  ] as const) {
    await rows(`insert into sent_mail (id, recipient, created_at) values ($1, 'a', ${at(sent)})`, [id]);
  }
  for (const [id, made] of [
    ['repeatable', '-23 hours'],
    ['over', '-25 hours'],
  ] as const) {
    await rows(
      `insert into idempotency_key (key_hash, credential_id, operation, fingerprint, created_at) values ($1, '', '', '', ${at(made)})`,
      [Buffer.from(id)],
    );
  }
  for (const [name, cleanup] of [
    ['named', '-1 second'],
    ['abandoned', '-1 second'],
    ['abandoned-lately', '1 hour'],
  ] as const) {
    const { id } = await roster.anAccount();
    await rows('update account set avatar = $2 where id = $1', [
      id,
      `https://a.example/pictures/${name.replace('abandoned', 'other')}.webp`,
    ]);
    await rows(
      `insert into picture (name, account_id, content, created_at, cleanup_at) values ($1, $2, '', now(), ${at(cleanup)})`,
      [name, id],
    );
  }
  const key = await roster.anApiKey(account);
  await rows(
    `insert into api_key_use (api_key_id, day, requests) values ($1, current_date - 89, 1), ($1, current_date - 92, 2)`,
    [key.id],
  );
  await cleanUp(roster);

  const ids = async (table: string, column = 'id') =>
    (await rows<{ id: string }>(`select ${column} as id from ${table} order by 1`)).map(({ id }) => id);
  expect(await ids('known_device')).toEqual(['used']);
  expect(await ids('api_key_use', 'requests')).toEqual(['1']);
  expect(await ids('session')).toEqual(['active', 'ended-lately', 'idle', 'revoked-lately']);
  expect(await ids('account_token', `convert_from(token_hash, 'utf8')`)).toEqual(['works']);
  expect(await ids('passkey_challenge')).toEqual(['works']);
  expect(await ids('invitation')).toEqual(['accepted', 'expired', 'pending']);
  expect(await ids('picture', 'name')).toEqual(['abandoned-lately', 'named']);
  expect(await rows('select from picture where cleanup_at < now()')).toEqual([]);
  expect(await ids('sent_mail')).toEqual(['today']);
  expect(await ids('idempotency_key', `convert_from(key_hash, 'utf8')`)).toEqual(['repeatable']);
  expect(await events(roster, 'session.ended')).toEqual([{ target: 'expired', reason: 'expired' }]);
});

test('cleanups revoke and delete what grants, tokens and clients leave behind, with an event for access that ends', async () => {
  const roster = await install();
  const { rows } = roster;
  const account = await roster.anAccount();
  const at = (interval: string) => `now() + interval '${interval}'`;

  const client = async (id: string, source: string, made: string) => {
    await rows(
      `insert into oauth_client (id, source, account_id, name, redirect_uris, created_at, cleanup_at)
       values ($1, $2, $3, 'A client', '{}', ${at(made)}, ${at(made)} + interval '30 days')`,
      [id, source, source === 'account' ? account.id : null],
    );
    return { id };
  };
  const registered = await client('registered, with a grant', 'registration', '-400 days');
  await client('registered', 'registration', '-31 days');
  await client('registered lately', 'registration', '-29 days');
  await client('named by its document', 'document', '-31 days');
  await client('named by its document lately', 'document', '-29 days');
  await client('of a grant that is long over', 'registration', '-400 days');
  await client('of the operator', 'operator', '-400 days');
  await client('of an account', 'account', '-400 days');
  for (const [last4, expires] of [
    ['kept', null],
    ['both', '1 hour'],
    ['over', '-1 second'],
  ] as const) {
    await rows(
      `insert into oauth_client_secret (secret_hash, client_id, last4, created_at, expires_at)
       values ($1, 'of the operator', $2, now(), ${expires === null ? 'null' : at(expires)})`,
      [Buffer.from(last4), last4],
    );
  }

  const rotated = await roster.anApiKey(account);
  for (const [id, expires] of [
    ['still works', '1 hour'],
    ['over', '-1 second'],
  ] as const) {
    await rows(
      `insert into api_key_secret (secret_hash, api_key_id, created_at, expires_at) values ($1, $2, now(), ${at(expires)})`,
      [Buffer.from(id), rotated.id],
    );
  }

  for (const [id, clientId, expires, revoked] of [
    ['live', registered.id, '1 day', null],
    ['expired', registered.id, '-29 days', null],
    ['expired long ago', 'of a grant that is long over', '-31 days', null],
    ['revoked', registered.id, '1 day', '-29 days'],
    ['revoked long ago', registered.id, '1 day', '-31 days'],
  ] as const) {
    await rows(
      `insert into oauth_grant (id, account_id, client_id, audience, scopes, created_at, expires_at, revoked_at)
       values ($1, $2, $3, 'personal', '{teams:read}', now(), ${at(expires)}, ${revoked === null ? 'null' : at(revoked)})`,
      [id, account.id, clientId],
    );
  }
  const keys: [name: string, id: string][] = [['by hand', (await roster.anApiKey(account)).id]];
  for (const grant of ['live', 'expired', 'expired long ago']) {
    const { id } = await roster.anApiKey(account);
    await rows(
      'update api_key set oauth_grant_id = $2, expires_at = (select expires_at from oauth_grant where id = $2) where id = $1',
      [id, grant],
    );
    keys.push([grant, id]);
  }

  for (const [id, kind, expires] of [
    ['code', 'code', '1 minute'],
    ['code over', 'code', '-59 minutes'],
    ['code gone', 'code', '-61 minutes'],
    ['access over', 'access', '-59 minutes'],
    ['access gone', 'access', '-61 minutes'],
    ['refresh, asked again', 'refresh', '30 days'],
    ['refresh, answered', 'refresh', '30 days'],
    ['refresh gone', 'refresh', '-61 minutes'],
  ] as const) {
    await rows(
      `insert into oauth_token (token_hash, kind, grant_id, scopes, payload, created_at, expires_at, consumed_at)
       values ($1, $2, 'live', '{teams:read}', '{}', now(), ${at(expires)}, now())`,
      [Buffer.from(id), kind],
    );
  }
  for (const [id, answered] of [
    ['refresh, asked again', '-50 seconds'],
    ['refresh, answered', '-61 seconds'],
    ['refresh gone', '1 minute'],
  ] as const) {
    await rows(
      `insert into oauth_refresh_answer (token_hash, answer, successors, created_at) values ($1, 'sealed', '{}', ${at(answered)})`,
      [Buffer.from(id)],
    );
  }
  for (const [id, expires] of [
    ['waits', '1 minute'],
    ['over', '-1 second'],
  ] as const) {
    await rows(`insert into authorization_request (id_hash, payload, expires_at) values ($1, '{}', ${at(expires)})`, [
      Buffer.from(id),
    ]);
    await rows(
      `insert into oauth_artifact (key_hash, model, payload, expires_at) values ($1, 'a', '{}', ${at(expires)})`,
      [Buffer.from(id)],
    );
  }

  await cleanUp(roster);

  const names = async (table: string, column = 'id') =>
    (await rows<{ name: string }>(`select ${column} as name from ${table} order by 1`)).map(({ name }) => name);
  const hashed = (table: string, column: string) => names(table, `convert_from(${column}, 'utf8')`);
  expect((await names('oauth_client')).toSorted()).toEqual([
    'named by its document lately',
    'of an account',
    'of the operator',
    'registered lately',
    'registered, with a grant',
  ]);
  expect((await events(roster, 'oauth_client.deleted')).map(({ target }) => target)).toEqual([
    'named by its document',
    'of a grant that is long over',
    'registered',
  ]);
  expect(await events(roster, 'api_key.revoked')).toHaveLength(2);
  expect(await events(roster, 'oauth_grant.revoked')).toEqual([{ target: 'expired long ago', reason: 'expired' }]);
  expect(await names('oauth_client_secret', 'last4')).toEqual(['both', 'kept']);
  expect(
    await rows(
      `select expires_at is null as is_current from api_key_secret where api_key_id = $1 order by is_current`,
      [rotated.id],
    ),
  ).toEqual([{ is_current: false }, { is_current: true }]);
  expect((await names('oauth_grant')).toSorted()).toEqual(['expired', 'live', 'revoked']);
  const left = new Map(
    (
      await rows<{ id: string; is_revoked: boolean }>('select id, revoked_at is not null as is_revoked from api_key')
    ).map(({ id, is_revoked }) => [id, is_revoked]),
  );
  expect(keys.map(([name, id]) => [name, left.get(id)])).toEqual([
    ['by hand', false],
    ['live', false],
    ['expired', true],
    ['expired long ago', undefined],
  ]);
  expect((await hashed('oauth_token', 'token_hash')).toSorted()).toEqual([
    'access over',
    'code',
    'code over',
    'refresh, answered',
    'refresh, asked again',
  ]);
  expect(await hashed('oauth_refresh_answer', 'token_hash')).toEqual(['refresh, asked again']);
  expect(await hashed('authorization_request', 'id_hash')).toEqual(['waits']);
  expect(await hashed('oauth_artifact', 'key_hash')).toEqual(['waits']);
});

// Guarantees that a million rows that are not expired cost a cleanup nothing.
test('each cleanup finds its rows by an index on their expiry', async () => {
  const roster = await install();

  for (const [name, { batch }] of Object.entries(CLEANUPS)) {
    const plan = await roster.services.db.transact(async ({ em: tx }) => {
      // The tables are empty, so that PostgreSQL would read them as a whole if it could.
      await tx.execute('set local enable_seqscan = off');
      return tx.execute<{ 'QUERY PLAN': string }[]>(`explain ${batch(roster.services.config)}`);
    });
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    // A table of one row.
    expect(text.replace(/Seq Scan on audit_head/, ''), name).not.toContain('Seq Scan');
    // Payloads are deleted in the order of their events, so the oldest are the first of the primary key.
    const oldest = /Limit.*\n.*Index Scan using event_payload_pkey/;
    const expired = /Index Cond: \(.*(expires_at|created_at|updated_at|last_seen_at|cleanup_at|logout_check_at).* < /;
    const special: Record<string, RegExp> = {
      cleanup_api_key_uses: /Index Cond: \(day < /,
      cleanup_event_payloads: oldest,
      // The rows that have not ended, of which there are few.
      cleanup_stalled_imports: /Index.*import_run_(?:running|updated)_index/,
    };
    expect(text, name).toMatch(special[name] ?? expired);
  }
});

// Guarantees that a replica of the version before, during a rolling upgrade, leaves nothing in the queue.
test('jobs of tasks that no longer exist are deleted, and those of unknown ones are left to newer replicas', async () => {
  const roster = await install();
  await roster.rows(
    `select graphile_worker.add_job(task, job_key := task) from unnest('{sweep,of_a_newer_version}'::text[]) task`,
  );

  await cleanUp(roster, ['recover_jobs']);

  expect(
    await roster.rows(
      `select task_identifier as task from graphile_worker.jobs where task_identifier in ('sweep', 'of_a_newer_version')`,
    ),
  ).toEqual([{ task: 'of_a_newer_version' }]);
});

test('a cleanup of more rows than a job may delete continues in the next job', async () => {
  const roster = await install();
  await roster.rows(`insert into sent_mail (id, recipient, created_at)
    select 'mail_' || n, 'a@example.com', now() - interval '26 hours' from generate_series(1, 12000) n`);

  await cleanUp(roster, ['cleanup_sent_emails']);

  expect(await roster.rows('select count(*)::int as left from sent_mail')).toEqual([{ left: 0 }]);
});

test('payloads of events are deleted in steps of at most 250, and feeds begin after them', async () => {
  const roster = await install();
  const [old, step] = [2500, CLEANUPS.cleanup_event_payloads.batch(roster.services.config)];
  await roster.rows(`insert into event_payload (sequence, event_id, type, created_at)
    select n, 'evt_' || n, 'team.updated', now() - interval '31 days' from generate_series(1, ${old}) n`);
  await roster.rows(`insert into event_payload (sequence, event_id, type, created_at)
    values (${old + 1}, 'evt_kept', 'team.updated', now() - interval '29 days')`);

  expect(await roster.rows(step)).toHaveLength(250);
  expect(await roster.rows('select feed_start from audit_head')).toEqual([{ feed_start: '250' }]);
  await cleanUp(roster, ['cleanup_event_payloads']);

  expect(await roster.rows('select event_id as id from event_payload')).toEqual([{ id: 'evt_kept' }]);
  expect(await roster.rows('select feed_start from audit_head')).toEqual([{ feed_start: String(old) }]);
});

test('a cleanup that fails is logged and does not delay the others', async () => {
  const roster = await install();
  const { rows } = roster;
  await rows(`insert into sent_mail (id, recipient, created_at) values ('old', 'a', now() - interval '26 hours')`);
  await rows(
    `insert into passkey_challenge (id, challenge, created_at, expires_at) values ('old', 'old', now(), now() - interval '1 day')`,
  );
  await rows(`create function refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$`);
  await rows('create trigger refuse before delete on passkey_challenge execute function refuse()');
  for (const task of ['cleanup_passkey_challenges', 'cleanup_sent_emails']) {
    await rows('select graphile_worker.add_job($1, job_key := $1, max_attempts := 1)', [task]);
  }

  await roster.work();

  await eventually(async () => expect(await rows('select from sent_mail')).toEqual([]));
  await eventually(() => expect(levelOf(roster.lines, 'scheduled job failed, next run on schedule')).toBe(50));
  expect(roster.lines.join('')).toContain('cleanup_passkey_challenges');
  expect(roster.lines.join('')).not.toContain('retry scheduled');
});
