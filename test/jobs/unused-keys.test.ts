import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UNUSED_KEYS_TASK } from '../../src/jobs/unused-keys.ts';
import { eventually, install, parse } from './installation.ts';

type Installation = Awaited<ReturnType<typeof install>>;

/** Runs the job until it has nothing left to do, and waits until all emails were sent. */
async function run({ rows }: Installation): Promise<void> {
  await rows('select graphile_worker.add_job($1, job_key := $1)', [UNUSED_KEYS_TASK]);
  await eventually(async () =>
    expect(
      await rows(
        `select from graphile_worker.jobs where task_identifier in ('sendAccountMail', $1) and run_at <= now()`,
        [UNUSED_KEYS_TASK],
      ),
    ).toEqual([]),
  );
}

/** Lets days pass for all keys. */
const passDays = ({ rows }: Installation, days: number) =>
  rows(
    `update api_key set created_at = created_at - $1::interval, last_used_at = last_used_at - $1::interval,
       unused_check_at = unused_check_at - $1::interval, unused_warned_at = unused_warned_at - $1::interval`,
    [`${days} days`],
  );

const use = ({ rows }: Installation, id: string) => rows('update api_key set last_used_at = now() where id = $1', [id]);

async function mails({ mailDirectory }: Installation): Promise<string[]> {
  const files = existsSync(mailDirectory) ? readdirSync(mailDirectory).filter((name) => name.endsWith('.eml')) : [];
  const all = await Promise.all(files.map((name) => parse(readFileSync(join(mailDirectory, name)))));
  return all.filter(({ subject }) => subject?.startsWith('Unused API keys')).map(({ text }) => text ?? '');
}

const live = async ({ rows }: Installation): Promise<string[]> =>
  (await rows<{ id: string }>('select id from api_key where revoked_at is null order by id')).map(({ id }) => id);

describe('with KEY_UNUSED_DAYS', () => {
  test('a key that is not used is revoked, two weeks after one email about it, and a used one is kept', async () => {
    const roster = await install({ settings: { KEY_UNUSED_DAYS: '90' } });
    const account = await roster.anAccount();
    const team = await roster.aTeam({ owner: account });
    const unused = [await roster.anApiKey(account), await roster.anApiKey(account, { team })];
    const [used, saved] = [await roster.anApiKey(account), await roster.anApiKey(account)];
    const ids = [...unused, used, saved].map(({ id }) => id).toSorted();
    await roster.work();

    await run(roster);
    expect([await live(roster), await mails(roster)]).toEqual([ids, []]);

    await passDays(roster, 77);
    await use(roster, used.id);
    await run(roster);
    await run(roster);
    const [mail = '', ...others] = await mails(roster);
    expect(others).toEqual([]);
    expect(mail.match(/rst_[pt]k_\w{6}…/g)).toHaveLength(3);

    await passDays(roster, 13);
    await use(roster, saved.id);
    await run(roster);
    expect(await live(roster)).toEqual(ids);

    await passDays(roster, 2);
    await run(roster);
    expect(await live(roster)).toEqual([used.id, saved.id].toSorted());
    expect(await mails(roster)).toHaveLength(1);
    const ends = await roster.rows<{ target_id: string }>(
      `select target_id from audit_event where event = 'api_key.revoked' and details->>'reason' = 'unused' order by 1`,
    );
    expect(ends.map(({ target_id: id }) => id)).toEqual(unused.map(({ id }) => id).toSorted());
  });

  test('no key is revoked without two weeks of notice when the setting is turned on', async () => {
    const roster = await install({ settings: { KEY_UNUSED_DAYS: '30' } });
    const account = await roster.anAccount();
    for (let i = 0; i < 30; i += 1) await roster.anApiKey(account);
    await passDays(roster, 1000);
    await roster.work();

    await run(roster);
    await passDays(roster, 13);
    await run(roster);
    expect(await live(roster)).toHaveLength(30);
    const [mail = '', ...others] = await mails(roster);
    expect([mail.match(/rst_pk_/g)?.length, mail.includes('and 10 more'), others.length]).toEqual([20, true, 0]);

    await passDays(roster, 2);
    await run(roster);
    expect(await live(roster)).toEqual([]);
  });

  test('the next keys are found by an index, and keys that are not due are not read again', async () => {
    const roster = await install({ settings: { KEY_UNUSED_DAYS: '30' } });
    const account = await roster.anAccount();
    await roster.anApiKey(account, { expiresAt: new Date(Date.now() - 1000) });
    await roster.anApiKey(account);
    await roster.work();
    await run(roster);

    const due = 'select id from api_key where revoked_at is null and coalesce(unused_check_at, created_at) < now()';
    expect(await roster.rows(due)).toEqual([]);
    await roster.rows(
      `insert into api_key (id, account_id, name, scopes, key_prefix, last4, created_at, unused_check_at)
       select 'key_' || n, $1, 'A key', '{teams:read}', 'p', 'l', now(), now() + interval '1 day'
       from generate_series(1, 5000) n`,
      [account.id],
    );
    await roster.rows('analyze api_key');
    const plan = await roster.rows(`explain ${due} order by coalesce(unused_check_at, created_at) limit 200`);
    expect(JSON.stringify(plan)).toContain('api_key_unused_index');
  });
});

test('without KEY_UNUSED_DAYS no key is touched', async () => {
  const roster = await install();
  const key = await roster.anApiKey(await roster.anAccount());
  await passDays(roster, 4000);
  await roster.work();
  await run(roster);
  expect([await live(roster), await mails(roster)]).toEqual([[key.id], []]);
});
