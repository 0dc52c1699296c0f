import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { startApi, testWith } from '../support/api.ts';
import { problemOf, signedIn } from '../support/browser.ts';
import { aPerson, signIn } from '../trpc/people.ts';
import { aFirstParty, authorize, endOf, firstPartyTokens, outcomeAt, sessionOf } from './first-party-flow.ts';
import { aProofKey, browse, exchange, refresh, someTokens } from './flow.ts';
import { grantOf, outcome, works } from './token-endpoint.ts';

const test = testWith(() => startApi({ TRPC_ORIGINS: 'https://spa.example', OAUTH_REGISTRATION: 'on' }));

const PAGE = 'page';

describe('a first-party client', () => {
  test('gets a code without a page, and with it the scopes that the operator gave it', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { body, access } = await firstPartyTokens(api, scene, { scope: 'teams:read teams:write' });

    expect(body).toMatchObject({ scope: 'teams:read', expires_in: 600 });
    expect((await api.as(access).get('/api/v1/credential')).body).toMatchObject({
      kind: 'oauth-grant',
      audience: 'personal',
      scopes: ['teams:read'],
    });
    const all = await firstPartyTokens(api, scene, { scope: '' });
    expect(all.body).toMatchObject({ scope: 'profile:read teams:read' });
    // The first, which asked for less, has lost nothing to the second, nor the second to another with less.
    await firstPartyTokens(api, scene);
    expect((await api.as(all.access).get('/api/v1/credential')).body.scopes).toEqual(['profile:read', 'teams:read']);
    const events = await api.rows(
      `select actor_kind, actor_id from audit_event where event = 'oauth_grant.approved' and client_id = $1`,
      [scene.client.id],
    );
    expect(events[0]).toEqual({ actor_kind: 'session', actor_id: scene.account.id });
  });

  test('sends no email and asks for no proof at each sign-in', async ({ api }) => {
    const scene = await aFirstParty(api);
    await api.rows(`update session set proven_at = now() - interval '1 day' where account_id = $1`, [scene.account.id]);
    expect(await outcomeAt(api, scene.visitor, scene.client)).toBe('code');
    await api.visitor().trpc.auth.forgotPassword.mutate({ email: scene.account.email });
    await api.mailTo(scene.account.email, /password/i);
    expect(api.mails.filter(({ to }) => to === scene.account.email)).toHaveLength(1);
  });

  test('gets nothing for who is not signed in, disabled or unverified', async ({ api }) => {
    const { client, visitor, account } = await aFirstParty(api);
    expect(await outcomeAt(api, api.visitor(), client)).toBe(PAGE);
    expect(await outcomeAt(api, api.visitor(), client, { prompt: 'none' })).toBe('login_required');
    await api.rows('update account set email_verified_at = null where id = $1', [account.id]);
    expect(await outcomeAt(api, visitor, client)).toBe(PAGE);
    expect(await outcomeAt(api, visitor, client, { prompt: 'none' })).toBe('interaction_required');
    await api.rows('update account set email_verified_at = now(), disabled_at = now() where id = $1', [account.id]);
    expect(await outcomeAt(api, visitor, client)).toBe(PAGE);
    expect(await outcomeAt(api, visitor, client, { prompt: 'none' })).toBe('login_required');
  });

  test('cannot have tokens of another resource', async ({ api }) => {
    const { client, visitor } = await aFirstParty(api);
    const end = await outcomeAt(api, visitor, client, { resource: `${api.services.config.baseUrl}/mcp` });
    expect(end).toBe('invalid_target');
  });
});

describe('the session of a user', () => {
  const DAY_SECONDS = 24 * 60 * 60;
  const lengthOf = async (api: Parameters<typeof aFirstParty>[0], sessionId: string) => {
    const [row] = await api.rows<{ days: number }>(
      `select extract(epoch from expires_at - created_at)::int / ${DAY_SECONDS} as days from session where id = $1`,
      [sessionId],
    );
    return row?.days;
  };

  test('lasts as long as the client says, if that is longer, from its sign-in on', async ({ api }) => {
    const operator = api.as(await api.anOperatorKey());
    const scene = await aFirstParty(api);
    const session = await sessionOf(api, scene.visitor);
    const set = (sessionDays: unknown) => operator.patch(`/operator/v1/clients/${scene.client.id}`, { sessionDays });
    await api.rows(
      `update session set created_at = created_at - interval '5 hours', expires_at = expires_at - interval '5 hours'
       where id = $1`,
      [session],
    );
    const before = await lengthOf(api, session);
    const lengthAfter = async (sessionDays: number | null) => {
      expect((await set(sessionDays)).body.sessionDays).toBe(sessionDays);
      await firstPartyTokens(api, scene);
      return lengthOf(api, session);
    };
    for (const none of [null, 1]) expect(await lengthAfter(none)).toBe(before);
    expect(await lengthAfter(90)).toBe(90);
    expect(await lengthAfter(90)).toBe(90);
    expect(await lengthAfter(60)).toBe(90);

    expect(await lengthAfter(400)).toBe(400);
    for (const bad of [0, 3651, 1.5, '90']) expect(await set(bad)).toBeProblem('validation_failed');
    const { id } = await api.anOAuthClient({ confidential: true });
    const refused = await operator.patch(`/operator/v1/clients/${id}`, { sessionDays: 90 });
    expect(refused.body.errors).toMatchObject([{ pointer: '/sessionDays' }]);
  });

  test('that ended is not prolonged, nor is one whose code is not exchanged', async ({ api }) => {
    const scene = await aFirstParty(api);
    const session = await sessionOf(api, scene.visitor);
    await api.rows('update oauth_client set session_days = 90 where id = $1', [scene.client.id]);
    const before = await lengthOf(api, session);
    const { verifier, challenge } = aProofKey();
    const end = endOf(await authorize(api, scene.visitor, scene.client, challenge)) as Record<string, string>;
    expect(await lengthOf(api, session)).toBe(before);
    await api.rows('update session set revoked_at = now() where id = $1', [session]);
    const refused = await exchange(api, { client: scene.client, code: end['code'] ?? '', verifier });
    expect([outcome(refused), await lengthOf(api, session)]).toEqual(['400 invalid_grant', before]);
  });

  // A thief of a session could prolong it, so notices stay in the language before for as long as that.
  test('keeps the language of notices for as long as it can last', async ({ api }) => {
    const scene = await aFirstParty(api);
    await api.rows('update oauth_client set session_days = 1000 where id = $1', [scene.client.id]);
    await api.rows(
      `update session set proofs = null, proven_at = null, created_at = now() - interval '1 day' where account_id = $1`,
      [scene.account.id],
    );
    await scene.visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'de' });
    const [row] = await api.rows<{ days: number }>(
      `select round(extract(epoch from notice_locale_until - now()) / ${DAY_SECONDS})::int as days from account where id = $1`,
      [scene.account.id],
    );
    expect(row?.days).toBe(1000);
    await api.rows('update oauth_client set session_days = null where id = $1', [scene.client.id]);
  });
});

describe('a page is shown', () => {
  test('to users of every other client, whatever it asks for', async ({ api }) => {
    const { visitor, account } = await aFirstParty(api);
    for (const owner of [undefined, account]) {
      const client = await api.anOAuthClient({ confidential: true, ...(owner && { owner }) });
      for (const prompt of ['none', 'login', 'nonsense', 'none login'])
        expect(await outcomeAt(api, visitor, client, { prompt, max_age: 'x', login_hint: account.email })).toBe(PAGE);
    }
  });

  test('for a redirect URI of which anyone could get the code', async ({ api }) => {
    const { client, visitor } = await aFirstParty(api);
    const pages = { confidential: false, firstParty: ['teams:read'] } as const;
    for (const options of [
      { ...pages, redirectUri: 'https://elsewhere.example/cb' },
      { ...pages, native: true, redirectUri: 'http://127.0.0.1/cb' },
      { ...pages, native: true, redirectUri: 'com.example.app:/cb' },
    ]) {
      const other = await api.anOAuthClient(options);
      expect(await outcomeAt(api, visitor, other), options.redirectUri).toBe(PAGE);
      expect(await outcomeAt(api, visitor, other, { prompt: 'none' })).toBe('consent_required');
    }
    expect(await outcomeAt(api, visitor, client, { redirect_uri: 'https://client.example/other' })).toMatch(/^400/);
  });

  test('for what the client wants to be asked', async ({ api }) => {
    const { client, visitor, account } = await aFirstParty(api);
    const outcomes: Record<string, string> = {};
    const cases: Record<string, Record<string, string>> = {
      'the account': { login_hint: account.email.toUpperCase() },
      'its id': { login_hint: account.id },
      'another account': { login_hint: 'other@example.com' },
      consent: { prompt: 'consent' },
      login: { prompt: 'login' },
      select: { prompt: 'select_account' },
      create: { prompt: 'create' },
      'no proof now': { max_age: '0' },
      'a proof within the hour': { max_age: '3600' },
      'no number': { max_age: '-1' },
      'none and login': { prompt: 'none login' },
      unknown: { prompt: 'whatever' },
    };
    for (const [name, asked] of Object.entries(cases)) outcomes[name] = await outcomeAt(api, visitor, client, asked);
    expect(outcomes).toEqual({
      'the account': 'code',
      'its id': 'code',
      'another account': PAGE,
      consent: PAGE,
      login: PAGE,
      select: PAGE,
      create: PAGE,
      'no proof now': PAGE,
      'a proof within the hour': 'code',
      'no number': 'invalid_request',
      'none and login': 'invalid_request',
      unknown: 'invalid_request',
    });
  });

  test('not for a public client of an origin that the operator listed', async ({ api }) => {
    const { visitor } = await aFirstParty(api);
    const options = { confidential: false, firstParty: ['teams:read'] } as const;
    const client = await api.anOAuthClient({ ...options, redirectUri: 'https://spa.example/cb' });
    expect(await outcomeAt(api, visitor, client)).toBe('code');
    const tokens = await firstPartyTokens(api, { client, visitor });
    const rotated = await refresh(api, client, tokens.refresh);
    expect(rotated.body).toMatchObject({ refresh_token: expect.not.stringMatching(tokens.refresh), expires_in: 600 });
    // Another port is another origin.
    const other = await api.anOAuthClient({ ...options, redirectUri: 'https://spa.example:8443/cb' });
    expect(await outcomeAt(api, visitor, other)).toBe(PAGE);
  });
});

describe('the page of a first-party client', () => {
  const aPage = async (api: Parameters<typeof aFirstParty>[0], asked: Record<string, string>) => {
    const scene = await aFirstParty(api);
    const answer = await authorize(api, scene.visitor, scene.client, aProofKey().challenge, asked);
    const id = answer.headers.location?.split('/').at(-1) ?? '';
    return { ...scene, id, read: await scene.visitor.trpc.authorizations.read.query({ id }) };
  };

  test('continues once, as the account that it shows', async ({ api }) => {
    const { id, visitor, account, read } = await aPage(api, { prompt: 'select_account' });
    expect(read).toMatchObject({ firstParty: 'account', account: { id: account.id } });
    const wrong = visitor.trpc.authorizations.continue.mutate({ id, accountId: 'acc_other' });
    expect(await problemOf(wrong)).toMatchObject({ code: 'account_changed' });
    const { redirectTo } = await visitor.trpc.authorizations.continue.mutate({ id, accountId: account.id });
    expect(endOf(await browse(api, visitor)(new URL(redirectTo).pathname))).toMatchObject({ code: expect.any(String) });
    const again = visitor.trpc.authorizations.continue.mutate({ id, accountId: account.id });
    expect(await problemOf(again)).toMatchObject({ code: 'authorization_not_found' });
  });

  test('is that of one browser, and answers no other client', async ({ api }) => {
    const { id, account } = await aPage(api, { prompt: 'select_account' });
    const other = await signedIn(api, account);
    const call = other.trpc.authorizations.continue.mutate({ id, accountId: account.id });
    expect(await problemOf(call)).toMatchObject({ code: 'authorization_not_found' });

    const visitor = await signedIn(api, account);
    const client = await api.anOAuthClient();
    const page = await authorize(api, visitor, client, aProofKey().challenge);
    const input = { id: page.headers.location?.split('/').at(-1) ?? '', accountId: account.id };
    expect(await problemOf(visitor.trpc.authorizations.continue.mutate(input))).toMatchObject({
      code: 'authorization_not_found',
    });
  });

  test('takes no consent in place of the confirmation', async ({ api }) => {
    const { id, visitor, account } = await aPage(api, { prompt: 'consent' });
    const input = { id, accountId: account.id, teamId: null, scopes: ['teams:read' as const] };
    expect(await problemOf(visitor.trpc.authorizations.approve.mutate(input))).toMatchObject({
      code: 'authorization_not_found',
    });
  });

  test('requires the proof that the client asked for, after the request began', async ({ api }) => {
    for (const asked of [{ max_age: '0' }, { prompt: 'login' }]) {
      const { id, visitor, account, read } = await aPage(api, asked as Record<string, string>);
      expect(read.firstParty).toBe('proof');
      const call = () => visitor.trpc.authorizations.continue.mutate({ id, accountId: account.id });
      expect(await problemOf(call())).toMatchObject({ code: 'proof_required' });
      await api.rows('update session set proven_at = now() where account_id = $1', [account.id]);
      expect(await visitor.trpc.authorizations.read.query({ id })).toMatchObject({ firstParty: 'nothing' });
      expect(await call()).toMatchObject({ redirectTo: expect.any(String) });
    }
  });
});

describe('tokens of a first-party client', () => {
  test('end with the session: signed out, reset, disabled, idle or expired', async ({ api }) => {
    const ends: Record<string, string> = {
      'signed out': 'update session set revoked_at = now() where id = $1',
      expired: `update session set expires_at = now() - interval '1 ms' where id = $1`,
      idle: `update session set idle_expires_at = now() - interval '1 ms' where id = $1`,
      deleted: 'delete from session where id = $1',
      disabled: 'update account set disabled_at = now() where id = (select account_id from session where id = $1)',
    };
    for (const [name, statement] of Object.entries(ends)) {
      const scene = await aFirstParty(api);
      const { access, refresh: token } = await firstPartyTokens(api, scene);
      const { verifier, challenge } = aProofKey();
      const pending = endOf(await authorize(api, scene.visitor, scene.client, challenge)) as { code: string };
      expect(await works(api, access)).toBe(true);

      await api.rows(statement, [await sessionOf(api, scene.visitor)]);
      expect(await works(api, access), name).toBe(false);
      expect(outcome(await refresh(api, scene.client, token)), name).toBe('400 invalid_grant');
      const late = await exchange(api, { client: scene.client, code: pending.code, verifier });
      expect(outcome(late), name).toBe('400 invalid_grant');
    }
  });

  test('end by signing out in the browser, and other browsers keep theirs', async ({ api }) => {
    const scene = await aFirstParty(api);
    const other = await signedIn(api, scene.account);
    const [one, two] = [await firstPartyTokens(api, scene), await firstPartyTokens(api, { ...scene, visitor: other })];
    await scene.visitor.trpc.auth.signOut.mutate();
    expect(await works(api, one.access)).toBe(false);
    expect(await works(api, two.access)).toBe(true);
  });

  test('end when another account signs in in the browser, which has one session', async ({ api }) => {
    const scene = await aFirstParty(api);
    const first = await firstPartyTokens(api, scene);
    const other = await aPerson(api);
    await signIn(scene.visitor, other.email);
    expect(await works(api, first.access)).toBe(false);
    expect(outcome(await refresh(api, scene.client, first.refresh))).toBe('400 invalid_grant');
    const { body } = await firstPartyTokens(api, scene, { scope: 'openid' });
    expect(decodeJwt(body['id_token'] ?? '').sub).toBe(other.id);
  });

  test('end when the operator takes the mark away', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { access, refresh: token } = await firstPartyTokens(api, scene);
    await api.rows('update oauth_client set is_first_party = false, scopes = null where id = $1', [scene.client.id]);
    expect(await works(api, access)).toBe(false);
    expect(outcome(await refresh(api, scene.client, token))).toBe('400 invalid_grant');
    expect(await outcomeAt(api, scene.visitor, scene.client)).toBe(PAGE);
  });

  test('of a client that was not first-party do not become so', async ({ api }) => {
    const { tokens, client } = await someTokens(api);
    await api.rows(`update oauth_client set is_first_party = true, scopes = '{teams:read}' where id = $1`, [client.id]);
    const [row] = await api.rows('select session_id from oauth_token_family where client_id = $1', [client.id]);
    expect(row).toEqual({ session_id: null });
    expect(await works(api, tokens.access)).toBe(true);
  });

  test('refresh concurrently and without rotation, only with the secret', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { refresh: token } = await firstPartyTokens(api, scene);
    const answers = await Promise.all([1, 2, 3].map(() => refresh(api, scene.client, token)));
    expect(answers.map(outcome)).toEqual(['200', '200', '200']);
    expect(answers.map(({ body }) => body.refresh_token)).toEqual([token, token, token]);
    for (const { body } of answers) expect(await works(api, body.access_token)).toBe(true);
    expect(outcome(await refresh(api, { ...scene.client, clientSecret: null }, token))).toMatch(/^40[01] invalid_/);
    const other = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
    expect(outcome(await refresh(api, other, token))).toBe('400 invalid_grant');
  });

  test('end with a code that is used twice', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { code, verifier, access } = await firstPartyTokens(api, scene);
    expect(outcome(await exchange(api, { client: scene.client, code, verifier }))).toBe('400 invalid_grant');
    expect(await works(api, access)).toBe(false);
  });

  test('count as use of their session', async ({ api }) => {
    const scene = await aFirstParty(api);
    const { access } = await firstPartyTokens(api, scene);
    const id = await sessionOf(api, scene.visitor);
    await api.rows(
      `update session set idle_expires_at = now() + interval '1 minute', last_address = '192.0.2.1' where id = $1`,
      [id],
    );
    await works(api, access);
    await api.usage.flush();
    const [row] = await api.rows<{ is_longer: boolean; last_address: string }>(
      `select idle_expires_at > now() + interval '1 hour' as is_longer, last_address from session where id = $1`,
      [id],
    );
    expect(row).toEqual({ is_longer: true, last_address: '192.0.2.1' });
  });

  test('create keys that stand on their own, with a proof of their own authorization', async ({ api }) => {
    const scene = await aFirstParty(api, { firstParty: ['api-keys:write', 'teams:read'] });
    const scope = 'api-keys:write teams:read';
    const create = (access: string) =>
      api.as(access).post('/api/v1/api-keys', { name: 'Of the product', scopes: ['teams:read'] });
    const proveAt = (minutesAgo: number) =>
      api.rows('update session set proofs = $2, proven_at = null where account_id = $1', [
        scene.account.id,
        { password: new Date(Date.now() - minutesAgo * 60_000).toISOString() },
      ]);
    await proveAt(11);
    const late = await firstPartyTokens(api, scene, { scope });
    expect(await create(late.access)).toBeProblem('proof_required');
    // A later proof is one of the session, and none of tokens that were authorized before.
    await proveAt(0);
    expect(await create(late.access)).toBeProblem('proof_required');
    const { body } = await refresh(api, scene.client, late.refresh);
    expect(await create(body.access_token)).toBeProblem('proof_required');

    const fresh = await firstPartyTokens(api, scene, { scope, max_age: '600' });
    const created = await create(fresh.access);
    expect(created.status, created.text).toBe(201);
    await scene.visitor.trpc.auth.signOut.mutate();
    expect(await works(api, fresh.access)).toBe(false);
    expect(await works(api, created.body.secret)).toBe(true);
    expect(await api.rows('select oauth_grant_id from api_key where account_id = $1', [scene.account.id])).toEqual([
      { oauth_grant_id: null },
    ]);
  });

  test('have one grant per account and client', async ({ api }) => {
    const scene = await aFirstParty(api);
    for (let i = 0; i < 3; i += 1) await firstPartyTokens(api, scene);
    expect(await grantOf(api, scene.client)).toMatch(/^grant_/);
  });
});

test('nobody can register a first-party client', async ({ api }) => {
  const before = await api.rows('select id from oauth_client where is_first_party');
  const statuses: Record<string, number> = {};
  for (const member of ['first_party', 'skip_consent', 'is_first_party', 'isFirstParty', 'scopes']) {
    const { status } = await api.anonymous.send({
      method: 'POST',
      path: '/oauth/register',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://client.example/cb'], [member]: true }),
    });
    statuses[member] = status;
  }
  expect(statuses).toEqual({
    first_party: 400,
    skip_consent: 400,
    is_first_party: 201,
    isFirstParty: 201,
    scopes: 201,
  });
  expect(await api.rows('select id from oauth_client where is_first_party')).toEqual(before);
});
