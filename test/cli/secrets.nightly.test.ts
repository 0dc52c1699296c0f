import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { newId } from '../../src/entities/index.ts';
import { rosterOfItsOwn, run } from './roster.ts';

const roster = await rosterOfItsOwn();
const SRC = join(import.meta.dirname, '../../src');
const OLD = roster.env.SECRET_KEYS;
const NEW = 'n'.repeat(40);

/** A text in every place, encrypted with the old key. */
async function everyText(): Promise<void> {
  const sealed = (text: string) => createEncryption([OLD]).encrypt(text);
  const hash = hashSecret(newId('any'));
  await roster.rows(
    `select graphile_worker.add_job('sendInvitation', payload := $1::json, job_key := 'k', run_at := now() + '1 day')`,
    [JSON.stringify({ invitationId: 'inv', sealedToken: sealed('token') })],
  );
  await roster.rows(
    `select graphile_worker.add_job('sendRequestedLink', payload := $1::json, job_key := 'l', run_at := now() + '1 day')`,
    [JSON.stringify({ kind: 'sign_in', sealedEmail: sealed('address') })],
  );
  await roster.rows(
    `insert into authorization_request (id_hash, payload, sealed_id, expires_at) values ($1, $2, $3, now() + '1 day')`,
    [hash, JSON.stringify({ kept: 1, parJti: sealed('parJti') }), sealed('id')],
  );
  // Without its token, which has no part in this.
  await roster.rows('alter table oauth_refresh_answer disable trigger all');
  await roster.rows(
    `insert into oauth_refresh_answer (token_hash, answer, successors, created_at) values ($1, $2, '{}', now())`,
    [hash, sealed('answer')],
  );
  await roster.rows(
    `insert into webhook_endpoint (id, created_at, url, types, secret, previous_secret)
     values ('whe_1', now(), 'https://example.com', '{}', $1, $2)`,
    [sealed('webhook'), sealed('previous webhook')],
  );
}

const texts = async () =>
  (
    await roster.rows<{ sealed: string }>(
      `select payload->>'sealedToken' as sealed from graphile_worker._private_jobs where payload->>'sealedToken' is not null
       union all select payload->>'sealedEmail' from graphile_worker._private_jobs where payload->>'sealedEmail' is not null
       union all select payload->>'parJti' from authorization_request
       union all select sealed_id from authorization_request union all select answer from oauth_refresh_answer
       union all select secret from webhook_endpoint union all select previous_secret from webhook_endpoint`,
    )
  ).map(({ sealed }) => sealed);

const withKeys = async (SECRET_KEYS: string, ...args: readonly string[]) =>
  run({ ...roster.env, SECRET_KEYS }, [...args, '--json']);

const dataCheck = async (keys: string) => {
  const checks = JSON.parse((await withKeys(keys, 'doctor')).stdout) as { name: string; ok: boolean; detail: string }[];
  return checks.find(({ name }) => name === 'encrypted-data');
};

describe('secrets reseal', () => {
  test('makes the old key superfluous without losing a text, is recorded, and doctor reports when it can be dropped', async () => {
    await everyText();
    expect(await dataCheck(`${NEW},${OLD}`)).toMatchObject({
      ok: true,
      detail: expect.stringContaining('key 2 (7 texts)'),
    });
    expect(await dataCheck(NEW)).toMatchObject({ ok: false, detail: expect.stringContaining('7 texts cannot be') });

    const { stdout } = await withKeys(`${NEW},${OLD}`, 'secrets', 'reseal');
    const again = await withKeys(`${NEW},${OLD}`, 'secrets', 'reseal');

    const counts = {
      'waiting emails': 1,
      'requests for links': 1,
      'authorization requests': 1,
      'ids of authorization requests': 1,
      'refresh answers': 1,
      'webhook secrets': 1,
      'previous webhook secrets': 1,
      'signing keys': 0,
    };
    expect(JSON.parse(stdout)).toEqual({ resealed: counts, lost: 0 });
    expect(Object.values(JSON.parse(again.stdout).resealed)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(
      await roster.rows(
        `select actor_kind, details from audit_event where event = 'operator.secrets_resealed' order by id`,
      ),
    ).toEqual([7, 0].map((number) => ({ actor_kind: 'operator_cli', details: { number } })));
    const encryption = createEncryption([NEW]);
    expect((await texts()).map((sealed) => encryption.decrypt(sealed)).toSorted()).toEqual([
      'address',
      'answer',
      'id',
      'parJti',
      'previous webhook',
      'token',
      'webhook',
    ]);
    expect(await dataCheck(`${NEW},${OLD}`)).toMatchObject({
      ok: true,
      detail: expect.stringContaining('can be dropped'),
    });
    expect(await dataCheck(NEW)).toMatchObject({ ok: true });
  });

  test('fails where a text was encrypted with a key that is not there', async () => {
    const { code, stderr } = await withKeys('x'.repeat(40), 'secrets', 'reseal');

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^roster: 7 encrypted texts cannot be/),
    });
  });

  // Guarantees that a new kind of encrypted text is added to the list that is encrypted again.
  test('knows every file that encrypts', () => {
    const callers = globSync('**/*.ts', { cwd: SRC })
      .filter((file) => /\bencryption\.encrypt\(/.test(readFileSync(join(SRC, file), 'utf8')))
      .filter((file) => file !== 'jobs/reseal.ts');

    expect(callers.toSorted()).toEqual([
      'oauth/refresh-answers.ts', // refresh answers
      'oauth/requests.ts', // authorization requests
      'resources/accounts/email.service.ts', // waiting emails
      'resources/invitations/invitations.service.ts', // waiting emails
      'resources/openid/signing-keys.ts', // signing keys
      'resources/sign-in/email-link.ts', // waiting emails
      'resources/sign-in/remaining-access.ts', // in the browser only, for an hour
      'resources/sign-in/requested-link.ts', // requests for links
      'resources/sign-in/sign-up-attempts.ts', // waiting emails
      'resources/webhooks/endpoints.service.ts', // webhook secrets
      'transactions/idempotent.ts', // with the client's key, not with `SECRET_KEYS`
    ]);
  });
});
