import { describe, expect } from 'vitest';
import { startApi, test, type Api } from '../support/api.ts';
import { problemOf, type Visitor } from '../support/browser.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import {
  allMailed,
  anAddress,
  aPerson,
  aService,
  codeOf,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  tokenTo,
} from './people.ts';

/** A browser at an address of its own, as a trusted proxy reports it. */
function at(api: Api, address: string): Visitor {
  const visitor = api.visitor();
  visitor.headers['x-forwarded-for'] = address;
  return visitor;
}

const many = async <Result>(count: number, work: (i: number) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  for (let i = 0; i < count; i += 1) results.push(await work(i));
  return results;
};

const count = (answers: readonly string[], answer: string) => answers.filter((one) => one === answer).length;

describe('guesses at an account', () => {
  // Guarantees that attackers, on any number of addresses, can neither guess without limit nor lock the owner out.
  test('share one limit for unknown browsers; the owner gets in from a known browser and by a reset', async () => {
    const api = await aService({ TRUST_PROXY: '1' });
    const { email } = await aPerson(api);
    const owner = at(api, '192.0.2.1');
    await signIn(owner, email);
    await owner.trpc.auth.signOut.mutate();

    const guesses = await many(12, (i) =>
      codeOf(signIn(at(api, `198.51.100.${i}`), email.toUpperCase(), OTHER_PASSWORD)),
    );
    expect(guesses).toEqual([...Array<string>(10).fill('sign_in_failed'), 'rate_limited', 'rate_limited']);
    const refusal = await problemOf(signIn(at(api, '203.0.113.1'), email));
    expect(refusal).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(refusal.retryAfter).toBeGreaterThan(0);
    expect(refusal.retryAfter).toBeLessThanOrEqual(900);

    expect(await codeOf(signIn(owner, email))).toBe('ok');
    const elsewhere = at(api, '192.0.2.2');
    await elsewhere.trpc.auth.forgotPassword.mutate({ email });
    const reset = { token: await tokenTo(api, email, /Reset/), password: OTHER_PASSWORD };
    expect(await codeOf(elsewhere.trpc.auth.resetPassword.mutate(reset))).toBe('ok');
    expect(await codeOf(signIn(elsewhere, email, OTHER_PASSWORD))).toBe('ok');
  });

  // Guarantees that a browser which knew the old password has no separate limit for the new one.
  test('have no limit of their own in the browsers from before a reset', async ({ api }) => {
    const { email } = await aPerson(api);
    const [former, resetting] = [api.visitor(), api.visitor()];
    await signIn(former, email);
    await resetting.trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, /Reset/);
    await resetting.trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });

    await many(5, () => codeOf(signIn(former, email)));
    const guesses = await many(7, () => codeOf(signIn(api.visitor(), email)));

    expect(count(guesses, 'sign_in_failed')).toBe(5);
    expect(await codeOf(signIn(former, email, OTHER_PASSWORD))).toBe('rate_limited');
    expect(await codeOf(signIn(resetting, email, OTHER_PASSWORD))).toBe('ok');
  });

  test('are bound for a known browser too, by a window of its own', async ({ api }) => {
    const { email } = await aPerson(api);
    const known = api.visitor();
    await signIn(known, email);

    const guesses = await many(11, () => codeOf(signIn(known, email, OTHER_PASSWORD)));

    expect(guesses).toEqual([...Array<string>(10).fill('sign_in_failed'), 'rate_limited']);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });

  test('are bound for each known browser of an account by itself', async ({ api }) => {
    const { email } = await aPerson(api);
    const [laptop, phone] = [api.visitor(), api.visitor()];
    await signIn(laptop, email);
    await signIn(phone, email);

    const guesses = await many(22, (i) => codeOf(signIn(i % 2 === 0 ? laptop : phone, email, OTHER_PASSWORD)));

    expect(guesses).toEqual([...Array<string>(20).fill('sign_in_failed'), 'rate_limited', 'rate_limited']);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });

  // Guarantees that a browser is known to its own account alone.
  test('are not refunded by a known browser of another account', async ({ api }) => {
    const mallory = api.visitor();
    await signIn(mallory, (await aPerson(api)).email);
    const { email } = await aPerson(api);

    const guesses = await many(11, (i) => codeOf(signIn(i % 2 === 0 ? mallory : api.visitor(), email, OTHER_PASSWORD)));

    expect(count(guesses, 'sign_in_failed')).toBe(10);
    expect(guesses.at(-1)).toBe('rate_limited');
  });

  test('at an unknown address are bound alike', async ({ api }) => {
    const email = anAddress();

    const guesses = await many(11, () => codeOf(signIn(api.visitor(), email, OTHER_PASSWORD)));

    expect(guesses).toEqual([...Array<string>(10).fill('sign_in_failed'), 'rate_limited']);
  });

  test('are counted before they are made, so that concurrent ones cannot exceed the limit', async ({ api }) => {
    const { email } = await aPerson(api);

    const guesses = await Promise.all(
      Array.from({ length: 30 }, () => codeOf(signIn(api.visitor(), email, OTHER_PASSWORD))),
    );

    expect(count(guesses, 'sign_in_failed')).toBe(10);
    expect(count(guesses, 'rate_limited')).toBe(20);
  });

  test('that are right are not counted', async ({ api }) => {
    const { email } = await aPerson(api);

    expect(count(await many(12, () => codeOf(signIn(api.visitor(), email))), 'ok')).toBe(12);
    expect(await codeOf(signIn(api.visitor(), email, OTHER_PASSWORD))).toBe('sign_in_failed');
  });

  test('in a session have the limit of the session', async ({ api }) => {
    const { email } = await aPerson(api);
    const [thief, owner] = [api.visitor(), api.visitor()];
    await signIn(thief, email);
    await signIn(owner, email);

    const guesses = await many(11, () => codeOf(thief.trpc.account.prove.mutate({ password: OTHER_PASSWORD })));

    expect(guesses).toEqual([...Array<string>(10).fill('password_wrong'), 'rate_limited']);
    expect(await codeOf(owner.trpc.account.prove.mutate({ password: PASSWORD }))).toBe('ok');
  });

  test.skipIf(!hasRedis)('are counted for all replicas together, and given back to all', async () => {
    const redis = await startRedis();
    const settings = { REDIS_URL: redis.url, SIGN_IN_LIMIT: '4' };
    const one = await startApi(settings);
    const other = await startApi(settings, one);
    try {
      const { email } = await aPerson(one);
      const turns = [one, other, one, other, one, other];
      expect(await many(6, (i) => codeOf(signIn((turns[i] ?? one).visitor(), email)))).toEqual(
        Array<string>(6).fill('ok'),
      );

      const guesses = await many(6, (i) => codeOf(signIn((turns[i] ?? one).visitor(), email, OTHER_PASSWORD)));

      expect(guesses).toEqual([...Array<string>(4).fill('sign_in_failed'), 'rate_limited', 'rate_limited']);
    } finally {
      await other.close();
      await one.close();
      await redis.stop();
    }
  });
});

describe('attempts from one address', () => {
  test('are bound whatever account they are at; another address is free, and IPv6 counts by /64', async () => {
    const api = await aService({ TRUST_PROXY: '1', SIGN_IN_ADDRESS_LIMIT: '3' });
    const { email } = await aPerson(api);
    const guess = (address: string) => codeOf(signIn(at(api, address), anAddress(), OTHER_PASSWORD));

    expect(await many(4, () => guess('192.0.2.7'))).toEqual([
      ...Array<string>(3).fill('sign_in_failed'),
      'rate_limited',
    ]);
    expect(await codeOf(signIn(at(api, '192.0.2.7'), email))).toBe('rate_limited');
    expect(await codeOf(signIn(at(api, '192.0.2.8'), email))).toBe('ok');
    expect(await many(4, (i) => guess(`2001:db8:0:1::${i}`))).toEqual([
      ...Array<string>(3).fill('sign_in_failed'),
      'rate_limited',
    ]);
    expect(await guess('2001:db8:0:2::1')).toBe('sign_in_failed');
  });

  test('sign-ups, requests for emails and links each have their own limit', async () => {
    const api = await aService({ TRUST_PROXY: '1', SIGN_IN_ADDRESS_LIMIT: '2' });
    const { trpc } = at(api, '192.0.2.9');
    const email = anAddress();
    const token = api.services.tokens.generate('emailVerification').secret;

    expect(await many(3, () => codeOf(trpc.auth.signUp.mutate({ email, password: PASSWORD })))).toEqual([
      'ok',
      'ok',
      'rate_limited',
    ]);
    expect(
      await many(3, (i) =>
        codeOf(i === 0 ? trpc.auth.forgotPassword.mutate({ email }) : trpc.auth.resendVerification.mutate({ email })),
      ),
    ).toEqual(['ok', 'ok', 'rate_limited']);
    expect(await many(3, () => codeOf(trpc.auth.verifyEmail.mutate({ token })))).toEqual([
      'link_invalid',
      'link_invalid',
      'rate_limited',
    ]);
    expect(await codeOf(trpc.auth.resetPassword.mutate({ token, password: PASSWORD }))).toBe('rate_limited');
    expect(await codeOf(trpc.account.confirmEmailChange.mutate({ token }))).toBe('rate_limited');
    expect(await codeOf(trpc.auth.checkLink.mutate({ purpose: 'change_email', token }))).toBe('rate_limited');
  });

  test('looking whether links can be used counts as trying them', async () => {
    const api = await aService({ TRUST_PROXY: '1', SIGN_IN_ADDRESS_LIMIT: '2' });
    const { auth } = at(api, '192.0.2.10').trpc;
    const check = (token: string) => codeOf(auth.checkLink.mutate({ purpose: 'reset_password', token }));
    const guess = () => check(api.services.tokens.generate('passwordReset').secret);
    const { email } = await aPerson(api);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    const token = await tokenTo(api, email, /Reset/);

    expect(await many(3, guess)).toEqual(['ok', 'ok', 'rate_limited']);
    expect(await codeOf(auth.resetPassword.mutate({ token: 'wrong', password: PASSWORD }))).toBe('rate_limited');
    expect(await check(token)).toBe('ok');
  });
});

describe('emails with links', () => {
  // Guarantees that asking again and again neither floods a mailbox nor leaves its owner without a link that works.
  test('are few in an hour, and those that were mailed go on working', async ({ api }) => {
    const { email } = await aPerson(api);
    for (let asked = 0; asked < 5; asked += 1) {
      await api.visitor().trpc.auth.forgotPassword.mutate({ email });
      await allMailed(api);
    }
    const token = await tokenTo(api, email, /Reset/);
    await api.visitor().trpc.auth.forgotPassword.mutate({ email });
    await allMailed(api);

    expect(api.mails.filter(({ to }) => to === email)).toHaveLength(5);
    expect(await codeOf(api.visitor().trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD }))).toBe('ok');
  });

  test('are sent however many other emails the mailbox got', async ({ api }) => {
    const { email } = await aPerson(api);
    await api.rows(
      `insert into sent_mail (id, recipient, team_id, created_at) select 'mail_' || $1 || n, $1, 'team_' || n, now() from generate_series(1, 50) as n`,
      [email],
    );

    await api.visitor().trpc.auth.forgotPassword.mutate({ email });

    expect((await api.mailTo(email, /Reset/)).to).toBe(email);
  });
});
