import { expect, test } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { eventually, install } from './installation.ts';

// Guarantees that the database does not keep forever what nobody can use any more, and loses nothing that somebody can.
test('the sweep removes what is over, and nothing else', async () => {
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
    ['pending', '1 day', false],
    ['expired', '-29 days', false],
    ['long-past', '-31 days', false],
    ['accepted', '-31 days', true],
  ] as const) {
    await rows(
      `insert into invitation (id, team_id, email, role_id, created_at, expires_at, accepted_at) values ($1, $2, $1, 'member', now(), ${at(expires)}, ${accepted ? 'now()' : 'null'})`,
      [id, team.id],
    );
  }
  for (const [id, sent] of [
    ['today', '-24 hours'],
    ['yesterday', '-26 hours'],
  ] as const) {
    await rows(`insert into sent_mail (id, recipient, created_at) values ($1, 'a', ${at(sent)})`, [id]);
  }
  // A job that was left behind at its last attempt.
  await rows(
    `select graphile_worker.add_job('sendAccountMail', '{}', run_at := now() + interval '1 day', job_key := $1)`,
    [newId('job')],
  );
  await rows('update graphile_worker._private_jobs set attempts = max_attempts');

  await rows(`select graphile_worker.add_job('sweep', job_key := 'sweep')`);
  await roster.work();

  const ids = async (table: string, column = 'id') =>
    (await rows<{ id: string }>(`select ${column} as id from ${table} order by 1`)).map(({ id }) => id);
  await eventually(async () => expect(await ids('known_device')).toEqual(['used']));
  expect(await ids('session')).toEqual(['active', 'ended-lately', 'revoked-lately']);
  expect(await ids('account_token', `convert_from(token_hash, 'utf8')`)).toEqual(['works']);
  expect(await ids('passkey_challenge')).toEqual(['works']);
  expect(await ids('invitation')).toEqual(['accepted', 'expired', 'pending']);
  expect(await ids('sent_mail')).toEqual(['today']);
  await eventually(async () => expect(await roster.jobs()).toEqual([]));
});
