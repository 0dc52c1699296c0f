import { describe, expect } from 'vitest';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { aCode, exchange, refresh } from '../oauth/flow.ts';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import type { Visitor } from '../support/browser.ts';
import { setLastProof } from '../support/sessions.ts';
import { aPerson, aSignedIn, codeOf, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from './people.ts';

/** What the console shows of the session of a browser: its methods, the latest proof first. */
async function shown({ trpc }: Visitor) {
  const [current] = (await trpc.sessions.list.query()).filter(({ isCurrentSession }) => isCurrentSession);
  return current?.methods ?? [];
}

const methods = async (visitor: Visitor) => (await shown(visitor)).map(({ method }) => method);

type Row = { id: string; proofs: Record<string, string> | null; proven_at: string };

const rowOf = async (api: Api, { cookies }: Visitor) => {
  const token = cookies.get('roster_session_3000') ?? '';
  const [row] = await api.rows<Row>('select id, proofs, proven_at from session where token_hash = $1', [
    hashSecret(token),
  ]);
  return row;
};

/** The owner of an account with a passkey, who signed in by the password 30 minutes ago. */
async function anOwner(api: Api) {
  const owner = await aSignedIn(api);
  const { passkeys } = owner.visitor.trpc;
  const passkey = createAuthenticator();
  const response = passkey.create(await passkeys.registrationOptions.mutate());
  await passkeys.register.mutate({ name: 'A passkey', response });
  await setLastProof(api, 30, owner);
  const prove = async () => passkeys.prove.mutate({ response: passkey.get(await passkeys.proofOptions.mutate()) });
  return { ...owner, prove };
}

describe('a session', () => {
  test('knows each method once, with the time of its last proof', async ({ api }) => {
    const { visitor, prove } = await anOwner(api);
    const [before] = await shown(visitor);
    expect(before?.method).toBe('password');

    await prove();
    const [first, signedIn] = await shown(visitor);
    await prove();
    const [second, ...rest] = await shown(visitor);

    expect([first?.method, second?.method]).toEqual(['passkey', 'passkey']);
    expect(signedIn).toEqual(before);
    expect(Date.parse(second?.at ?? '')).toBeGreaterThan(Date.parse(first?.at ?? ''));
    expect(Date.parse(first?.at ?? '') - Date.parse(before?.at ?? '')).toBeGreaterThan(29 * 60_000);
    expect(rest).toEqual([before]);
    await visitor.trpc.account.prove.mutate({ password: PASSWORD });
    expect(await methods(visitor)).toEqual(['password', 'passkey']);
  });

  test('that a link signs in again knows what the browser proved before', async ({ api }) => {
    const { email, visitor } = await anOwner(api);
    const [before] = await shown(visitor);

    await visitor.trpc.auth.emailSignInLink.mutate({ email });
    await visitor.trpc.auth.signInWithLink.mutate({ token: await tokenTo(api, email, /sign-in link/) });

    expect(await methods(visitor)).toEqual(['link', 'password']);
    expect((await shown(visitor))[1]).toEqual(before);
    expect((await visitor.trpc.account.proof.query()).provenUntil).not.toBeNull();
  });

  test('of another account in the same browser begins with nothing', async ({ api }) => {
    const { visitor, prove } = await anOwner(api);
    await prove();

    await signIn(visitor, (await aPerson(api)).email);

    expect(await methods(visitor)).toEqual(['password']);
  });

  // Guarantees that a thief of a session who sets a password has proved nothing by that.
  test('proves nothing new by a new password', async ({ api }) => {
    const { visitor, prove } = await anOwner(api);
    await prove();
    const before = await shown(visitor);
    const { provenUntil } = await visitor.trpc.account.proof.query();

    await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

    expect(await shown(visitor)).toEqual(before);
    expect((await visitor.trpc.account.proof.query()).provenUntil).toBe(provenUntil);
    expect(await visitor.trpc.listMySessions.query()).toMatchObject([{ authenticationType: 'password' }]);
  });

  test('names its methods in its events and in the export of the account', async ({ api }) => {
    const { id, email, visitor } = await anOwner(api);
    await visitor.trpc.auth.emailSignInLink.mutate({ email });
    await visitor.trpc.auth.signInWithLink.mutate({ token: await tokenTo(api, email, /sign-in link/) });

    const events = await api.rows<{ details: { method: string; methods: string[] } }>(
      `select details from audit_event where event = 'session.created' and account_id = $1 order by occurred_at, id`,
      [id],
    );
    expect(events.map(({ details: { method, methods: all } }) => [method, all.toSorted()])).toEqual([
      ['password', ['password']],
      ['email_link', ['link', 'password']],
    ]);
    const { sessions } = (await visitor.trpc.account.export.query()) as unknown as {
      sessions: { methods: { method: string; at: string }[] }[];
    };
    expect(sessions.map(({ methods }) => methods.map(({ method }) => method).toSorted())).toEqual([
      ['password'],
      ['link', 'password'],
    ]);
    for (const { at } of sessions.flatMap(({ methods }) => methods)) expect(at).toMatch(/^\d{4}-.*\dZ$/);
  });

  test('is refused by the database if it could grow without bound', async ({ api }) => {
    const { visitor } = await anOwner(api);
    const { id } = (await rowOf(api, visitor)) ?? { id: '' };
    const set = (proofs: unknown) =>
      api.rows('update session set proofs = $2::jsonb where id = $1', [id, JSON.stringify(proofs)]);

    await expect(set({ password: 'x'.repeat(4000) })).rejects.toThrow(/session_proofs_check/);
    await expect(set(['password'])).rejects.toThrow(/session_proofs_check/);
    await set({ password: new Date().toISOString(), 'connection:con_0one': new Date().toISOString() });
    expect(await methods(visitor)).toEqual(expect.arrayContaining(['connection:con_0one']));
  });
});

// Guarantees that the version before, which knows only `proven_at`, can run beside this one.
describe('beside processes of the previous version, a session', () => {
  const TYPES = [
    ['password', ['password']],
    ['passkey', ['passkey']],
    ['email_link', ['link']],
    ['invitation', ['link']],
    [null, []],
  ] as const;

  test.for(TYPES)('that they created by %s proves %s', async ([type, proved], { api }) => {
    const { visitor } = await aSignedIn(api);
    const { id } = (await rowOf(api, visitor)) ?? { id: '' };
    await api.rows(
      `update session set authentication_type = $2, proofs = null, created_at = now() - interval '1 day',
         proven_at = now() - interval '1 day' where id = $1`,
      [id, type],
    );

    expect(await methods(visitor)).toEqual(proved);
    expect((await visitor.trpc.account.proof.query()).provenUntil).toBeNull();

    // Their proof counts here.
    await api.rows('update session set proven_at = now() where id = $1', [id]);
    expect((await visitor.trpc.account.proof.query()).provenUntil).not.toBeNull();

    await visitor.trpc.account.prove.mutate({ password: PASSWORD });
    expect(await methods(visitor)).toEqual(['password', ...proved.filter((method) => method !== 'password')]);
  });

  test('of this version is proven there at the same time', async ({ api }) => {
    const { visitor, prove } = await anOwner(api);
    const latest = async () => {
      const { proofs, proven_at: provenAt } = (await rowOf(api, visitor)) ?? { proofs: null, proven_at: '' };
      const times = Object.values(proofs ?? {}).map((at) => Date.parse(at));
      return [Math.max(...times), Date.parse(provenAt)] as const;
    };
    await signIn(visitor, (await aPerson(api)).email);
    const [created, column] = await latest();
    expect(column).toBe(created);
    await visitor.trpc.account.prove.mutate({ password: PASSWORD });
    const [proven, columnAfter] = await latest();
    expect(columnAfter).toBeGreaterThan(column);
    expect(columnAfter).toBe(proven);
    expect(await codeOf(prove())).not.toBe('ok');
  });
});

// Guarantees that `auth_time` and `amr` of tokens are those of their authorization.
test('a consent keeps what its session proved then: no later proof, exchange or refresh changes it', async ({
  api,
}) => {
  const { id, visitor, prove } = await anOwner(api);
  const frozen = () =>
    api.rows<{ id: string; proofs: object }>('select id, proofs from oauth_token_family where account_id = $1', [id]);
  await prove();
  const { proofs } = (await rowOf(api, visitor)) ?? {};

  const { client, code, verifier } = await aCode(api, { account: { id, email: '' }, visitor });
  const before = await frozen();
  expect(before).toEqual([{ id: expect.any(String), proofs }]);
  await prove();
  const tokens = await exchange(api, { client, code, verifier });
  await refresh(api, client, (tokens.body as { refresh_token: string }).refresh_token);

  expect(await frozen()).toEqual(before);
  expect((await rowOf(api, visitor))?.proofs).not.toEqual(proofs);
});
