import { expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { test } from '../support/api.ts';
import { anAddress, allMailed, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from './people.ts';

// Guarantees that the database, a backup of it or the log give access to no account.
test('no table and no line of the log holds a password, a token or a cookie that was handed out', async ({ api }) => {
  const email = anAddress();
  const newEmail = anAddress();
  const visitor = api.visitor();
  const handedOut = new Set([PASSWORD, OTHER_PASSWORD]);
  const collect = () => [...visitor.cookies.values()].forEach((cookie) => handedOut.add(cookie));
  const keep = async (address: string, about: RegExp) => {
    const token = await tokenTo(api, address, about);
    handedOut.add(token);
    return token;
  };

  // Checked before the worker runs, while the job contains what the email will.
  const invitee = anAddress();
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const key = await api.anApiKey(owner, { scopes: ['invites:write'] });
  expect((await api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email: invitee })).status).toBe(201);
  const waiting = await dump(api.rows);
  expect(waiting).toContain('sealedToken');
  expect(waiting).not.toContain(await keep(invitee, /./));
  await visitor.trpc.auth.signUp.mutate({ email, password: PASSWORD });
  const verification = await keep(email, /^Verify/);
  await visitor.trpc.auth.verifyEmail.mutate({ token: verification });
  await signIn(visitor, email);
  collect();
  await visitor.trpc.account.changeEmail.mutate({ newEmail });
  await keep(newEmail, /^Confirm/);
  await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });
  collect();
  await visitor.trpc.auth.forgotPassword.mutate({ email });
  const reset = await keep(email, /^Reset/);
  await visitor.trpc.auth.resendVerification.mutate({ email });
  await allMailed(api);

  const stored = await dump(api.rows);
  expect(handedOut.size).toBe(9);
  expect(stored).toContain(hashSecret(reset).toString('hex'));
  const log = JSON.stringify(api.lines);
  for (const secret of handedOut) {
    for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]) {
      expect(stored).not.toContain(form);
      expect(log).not.toContain(form);
    }
  }
});

/** Every row of every table, as text. */
async function dump(rows: <Row>(sql: string) => Promise<Row[]>): Promise<string> {
  const tables = await rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'graphile_worker')`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => rows<{ row: string }>(`select t::text as row from ${name} t`)),
  );
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
