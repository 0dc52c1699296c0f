import { describe, expect, vi } from 'vitest';
import { startApi, testWith, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf, type Visitor } from '../support/browser.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { as, anInvitationWithLink } from './console.ts';
import {
  accountAt,
  allMailed,
  anAddress,
  aPerson,
  codeOf,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  tokenTo,
} from './people.ts';

// Links are requested many times for one address.
const test = testWith(() => startApi({ LINK_MAILS_PER_HOUR: '50' }));

const VERIFY = /^Verify your email address$/;
const CHANGED = /^Your email address was changed$/;
const NAMES = { firstName: 'Ada', lastName: 'Lovelace' };

type Person = { readonly id: string; readonly email: string };

/** How an account that was proven once came to be. */
const KINDS: Readonly<Record<string, (api: Api) => Promise<Person>>> = {
  'signed up': async (api) => {
    const email = anAddress();
    const { trpc } = api.visitor();
    await trpc.auth.signUp.mutate({ email, password: PASSWORD, ...NAMES });
    await trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, email, VERIFY) });
    return { id: (await accountAt(api, email))?.['id'] ?? '', email };
  },
  invited: async (api) => {
    const email = anAddress();
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { token } = await anInvitationWithLink(api, team, { email });
    await api.visitor().trpc.auth.signUp.mutate({ email, password: PASSWORD, ...NAMES, invitationToken: token });
    return { id: (await accountAt(api, email))?.['id'] ?? '', email };
  },
  'made by the operator': async (api) => {
    const email = anAddress();
    const fields = { email, password: PASSWORD, isEmailVerified: true, ...NAMES };
    const { body } = await (await anOperator(api)).post('/operator/v1/accounts', fields);
    return { id: body.id as string, email };
  },
  imported: async (api) => {
    const person = await aPerson(api);
    await api.rows(
      `update account set first_name = 'Ada', last_name = 'Lovelace', created_by = 'operator', import_id = 'imp_1'
       where id = $1`,
      [person.id],
    );
    return person;
  },
};

const anOperator = async (api: Api) => api.as(await api.anOperatorKey());

const move = async (api: Api, { id }: Person, fields: object) =>
  (await anOperator(api)).patch(`/operator/v1/accounts/${id}`, fields);

/** Everything that a user can own, and a browser that is signed in. */
async function equip(api: Api, person: Person) {
  const visitor = api.visitor();
  await signIn(visitor, person.email);
  const authenticator = createAuthenticator();
  const options = await visitor.trpc.passkeys.registrationOptions.mutate();
  await visitor.trpc.passkeys.register.mutate({ name: 'A passkey', response: authenticator.create(options) });
  const team = await api.aTeam({ owner: person });
  const keys = [await api.anApiKey(person), await api.anApiKey(person, { team })];
  const grant = await api.aGrant(person);
  const elsewhere = api.visitor();
  await signIn(elsewhere, person.email);
  return { visitor, authenticator, credentials: [...keys, grant], elsewhere };
}

/** What an account has: nothing of it may end. Of sessions, those that are not of the browser which comes. */
async function belongings(api: Api, { id }: Person) {
  const [row] = await api.rows<Record<string, unknown>>(
    `select first_name, last_name, password_hash,
       (select array_agg(k.id order by k.id) from api_key k where k.account_id = a.id and k.revoked_at is null) as keys,
       (select array_agg(p.id order by p.id) from passkey p where p.account_id = a.id) as passkeys,
       (select array_agg(g.id order by g.id) from oauth_grant g where g.account_id = a.id and g.revoked_at is null) as apps
     from account a where id = $1`,
    [id],
  );
  const { first_name: firstName, last_name: lastName, ...rest } = row ?? {};
  return { names: { firstName, lastName }, ...rest };
}

const countOf = async (api: Api, table: 'known_device' | 'session', { id }: Person): Promise<number> => {
  const where = table === 'session' ? 'and revoked_at is null' : '';
  return (await api.rows(`select 1 from ${table} where account_id = $1 ${where}`, [id])).length;
};

/** Who can have a link sent to the new mailbox, and how. */
const CALLERS: Readonly<Record<string, (api: Api, account: Person, to: string) => Promise<unknown>>> = {
  'the link of the move': () => Promise.resolve(),
  'a link sent again': (api, _, email) => api.visitor().trpc.auth.resendVerification.mutate({ email }),
  'a sign-in link': (api, _, email) => api.visitor().trpc.auth.emailSignInLink.mutate({ email }),
  'a reset': (api, _, email) => api.visitor().trpc.auth.forgotPassword.mutate({ email }),
  'a sign-in link of the operator': async (api, { id }) =>
    (await anOperator(api)).post(`/operator/v1/accounts/${id}/links`, { kind: 'sign_in' }),
  'a reset of the operator': async (api, { id }) =>
    (await anOperator(api)).post(`/operator/v1/accounts/${id}/links`, { kind: 'reset_password' }),
};

type Equipment = Awaited<ReturnType<typeof equip>>;
type Coming = { readonly visitor: Visitor; readonly password?: string };

/** Who shows that the account is theirs, beside the link. */
const OWNERS: Readonly<Record<string, (api: Api, equipment: Equipment) => Promise<Coming>>> = {
  'a browser that is signed in': (_, { visitor }) => Promise.resolve({ visitor }),
  'a known browser': async (_, { visitor }) => {
    await visitor.trpc.auth.signOut.mutate();
    return { visitor };
  },
  'the password': (api) => Promise.resolve({ visitor: api.visitor(), password: PASSWORD }),
  'a passkey': async (api, { authenticator }) => {
    const visitor = api.visitor();
    const options = await visitor.trpc.passkeys.signInOptions.mutate();
    await visitor.trpc.passkeys.signIn.mutate({ response: authenticator.get(options) });
    return { visitor };
  },
};

/** What an email shows of an address whole: domains are no links there. */
const nameIn = (address: string): string => address.split('@')[0] ?? '';

/** Does something by every way at once, because each waits for emails. */
const byEachCaller = (work: (caller: string) => Promise<unknown>) => Promise.all(Object.keys(CALLERS).map(work));

/** A moved account, with the latest link to its new mailbox. */
async function moved(api: Api, kind: string, caller = 'the link of the move') {
  const account = await KINDS[kind]!(api); // a key of the table
  const equipment = await equip(api, account);
  const before = await belongings(api, account);
  const to = anAddress();
  expect((await move(api, account, { email: to })).body).toMatchObject({ email: to, emailVerified: null });
  const first = await tokenTo(api, to, VERIFY);
  await CALLERS[caller]!(api, account, to); // a key of the table
  const link = async () => {
    const latest = await tokenTo(api, to, VERIFY);
    expect(latest !== first || caller === 'the link of the move').toBe(true);
    return latest;
  };
  const token = await vi.waitFor(link, { timeout: PATIENCE_MS });
  // Nothing else goes to a mailbox that is not proven.
  expect(api.mails.filter((mail) => mail.to === to).every(({ subject }) => VERIFY.test(subject))).toBe(true);
  return { account, equipment, before, to, token };
}

/** Somebody whose account it is follows the link to the new mailbox: nothing ends. */
async function proveAsOwner(api: Api, kind: string, caller: string, owner: string): Promise<void> {
  const label = `${caller}, ${owner}`;
  const { account, equipment, before, to, token } = await moved(api, kind, caller);
  const { visitor, password } = await OWNERS[owner]!(api, equipment); // a key of the table
  const devices = await countOf(api, 'known_device', account);
  const state = await visitor.trpc.auth.readVerification.mutate({ token });
  expect(state, label).toEqual({ email: to, needsPassword: owner === 'the password', isMoved: true });

  const given = password === undefined ? {} : { password };
  const { remaining } = await visitor.trpc.auth.verifyEmail.mutate({ token, ...given });

  expect(await belongings(api, account), label).toEqual(before);
  expect(await accountAt(api, to), label).toMatchObject({ id: account.id, proven_email: null });
  expect((await visitor.trpc.getMe.query()).emailVerified, label).not.toBeNull();
  expect(await equipment.elsewhere.trpc.getMe.query(), label).toMatchObject({ id: account.id, ...before.names });
  expect(await countOf(api, 'known_device', account), label).toBe(devices + (owner === 'the password' ? 1 : 0));
  for (const credential of equipment.credentials)
    expect((await api.as(credential).get('/api/v1/credential')).status, label).toBe(200);
  const access = ['api_key', 'api_key', 'connected_app', 'passkey'];
  expect(remaining?.access.map((each) => each.kind).toSorted(), label).toEqual(access);
  expect((await api.mailTo(account.email, CHANGED)).text, label).toContain(nameIn(to));
  expect((await api.mailTo(to, CHANGED)).text, label).toContain(nameIn(to));
}

/** Somebody who has the new mailbox and nothing else follows the link: they get an account of their own at most. */
async function proveAsStranger(api: Api, kind: string, caller: string): Promise<void> {
  const { account, equipment, before, to, token } = await moved(api, kind, caller);
  const { trpc } = api.visitor();
  const sessions = await countOf(api, 'session', account);
  const state = await trpc.auth.readVerification.mutate({ token });
  expect(state, caller).toMatchObject({ needsPassword: true, isMoved: true });
  for (const refused of [{}, { newPassword: OTHER_PASSWORD }])
    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, ...refused })), caller).toBe('password_required');
  expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, password: OTHER_PASSWORD })), caller).toBe(
    'password_wrong',
  );
  expect(await codeOf(trpc.auth.signInWithLink.mutate({ token })), caller).toBe('link_invalid');
  const reset = trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
  expect(await codeOf(reset), caller).toBe('link_invalid');
  expect(await accountAt(api, to), caller).toMatchObject({ id: account.id, email_verified_at: null });

  await trpc.auth.verifyEmail.mutate({ token, ownAccountPassword: OTHER_PASSWORD });

  const own = await trpc.getMe.query();
  expect(own, caller).toMatchObject({ email: to, firstName: null });
  expect(own.id, caller).not.toBe(account.id);
  expect(await belongings(api, account), caller).toEqual(before);
  expect(await countOf(api, 'session', account), caller).toBe(sessions);
  expect(await accountAt(api, account.email), caller).toMatchObject({ id: account.id, proven_email: null });
  expect((await equipment.visitor.trpc.getMe.query()).emailVerified, caller).not.toBeNull();
  const told = () => api.mails.filter((mail) => mail.to === account.email && mail.text.includes(nameIn(account.email)));
  await vi.waitFor(() => expect(told(), caller).not.toEqual([]), { timeout: PATIENCE_MS });
}

describe('an account that the operator moved to another address', () => {
  for (const kind of Object.keys(KINDS)) {
    test(`keeps all it has, by every link and whoever shows that it is theirs: ${kind}`, async ({ api }) => {
      for (const owner of Object.keys(OWNERS)) await byEachCaller((caller) => proveAsOwner(api, kind, caller, owner));
    });

    test(`gives a stranger nothing but an account of their own, by every link: ${kind}`, async ({ api }) => {
      await byEachCaller((caller) => proveAsStranger(api, kind, caller));
    });
  }

  for (const kind of Object.keys(KINDS))
    test(`goes back to its last proven address if somebody signs up at the new one: ${kind}`, async ({ api }) => {
      const { account, before, to } = await moved(api, kind);
      const stranger = api.visitor();
      await stranger.trpc.auth.signUp.mutate({ email: to, password: OTHER_PASSWORD, firstName: 'Eve' });
      await allMailed(api);
      await stranger.trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, to, VERIFY) });
      expect(await stranger.trpc.getMe.query()).toMatchObject({ email: to, firstName: 'Eve' });
      expect(await belongings(api, account)).toEqual(before);

      const invited = anAddress();
      await move(api, account, { email: invited });
      const team = await api.aTeam({ owner: await api.anAccount() });
      const { token } = await anInvitationWithLink(api, team, { email: invited });
      const guest = api.visitor();
      const signUp = { email: invited, password: OTHER_PASSWORD, firstName: 'Eve', invitationToken: token };
      expect(await guest.trpc.auth.signUp.mutate(signUp)).toMatchObject({ signedIn: true });
      expect((await guest.trpc.getMe.query()).id).not.toBe(account.id);

      expect(await belongings(api, account)).toEqual(before);
      expect(await accountAt(api, account.email)).toMatchObject({ id: account.id, proven_email: null });
    });

  test('goes back also for a sign-up that began before the move', async ({ api }) => {
    const to = anAddress();
    const stranger = api.visitor();
    await stranger.trpc.auth.signUp.mutate({ email: to, password: OTHER_PASSWORD });
    const token = await tokenTo(api, to, VERIFY);
    const account = await KINDS['signed up']!(api);
    await equip(api, account);
    const before = await belongings(api, account);
    await move(api, account, { email: to });

    await stranger.trpc.auth.verifyEmail.mutate({ token });

    expect((await stranger.trpc.getMe.query()).id).not.toBe(account.id);
    expect(await belongings(api, account)).toEqual(before);
    expect((await accountAt(api, account.email))?.['id']).toBe(account.id);
  });

  test('has no address if another account took its last proven one, keeps everything, and is told there', async ({
    api,
  }) => {
    const { account, equipment, before, to, token } = await moved(api, 'imported');
    const { trpc } = api.visitor();
    await trpc.auth.signUp.mutate({ email: account.email, password: OTHER_PASSWORD });
    await trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, account.email, VERIFY) });

    await api.visitor().trpc.auth.verifyEmail.mutate({ token, ownAccountPassword: OTHER_PASSWORD });

    expect(await belongings(api, account)).toEqual(before);
    expect(await equipment.visitor.trpc.getMe.query()).toMatchObject({ id: account.id, email: null });
    await api.mailTo(account.email, /^Your account has no email address$/);
    // It still was proven once: the next address gives nobody anything either.
    const next = anAddress();
    await move(api, account, { email: next });
    const link = await tokenTo(api, next, VERIFY);
    expect(await codeOf(api.visitor().trpc.auth.verifyEmail.mutate({ token: link }))).toBe('password_required');
    await equipment.visitor.trpc.auth.verifyEmail.mutate({ token: link });
    expect(await belongings(api, account)).toEqual(before);
    expect((await accountAt(api, to))?.['id']).not.toBe(account.id);
  });

  test('is verified at once when its address is put back, and the link to the other mailbox ends', async ({ api }) => {
    const { account, before, token } = await moved(api, 'signed up');
    const { body } = await move(api, account, { email: account.email.toUpperCase() });
    expect(body.emailVerified).not.toBeNull();
    expect(await codeOf(api.visitor().trpc.auth.readVerification.mutate({ token }))).toBe('link_invalid');
    expect(await belongings(api, account)).toEqual(before);
    expect(await accountAt(api, account.email)).toMatchObject({ proven_email: null });
  });

  test('remembers the last proven address over several moves', async ({ api }) => {
    const { account, to, before } = await moved(api, 'signed up');
    await move(api, account, { email: anAddress() });
    expect(await accountAt(api, to)).toBeUndefined();
    await move(api, account, { email: account.email });
    expect(await belongings(api, account)).toEqual(before);
    expect((await accountAt(api, account.email))?.['email_verified_at']).not.toBeNull();
  });

  test('is confirmed by the operator’s word, of which both mailboxes are told', async ({ api }) => {
    const { account, before, to } = await moved(api, 'signed up');
    expect((await move(api, account, { isEmailVerified: true })).body.emailVerified).not.toBeNull();
    expect(await belongings(api, account)).toEqual(before);
    await api.mailTo(account.email, CHANGED);
    await api.mailTo(to, CHANGED);
    const other = anAddress();
    await move(api, account, { email: other, isEmailVerified: true });
    await api.mailTo(other, CHANGED);
    expect(await belongings(api, account)).toEqual(before);
  });

  test('accepts no invitation to the new address, and its notices go to the last proven one', async ({ api }) => {
    const { account, equipment, to } = await moved(api, 'made by the operator');
    const team = await api.aTeam({ owner: await api.anAccount() });
    const { token } = await anInvitationWithLink(api, team, { email: to });
    const { trpc } = equipment.visitor;
    expect(await codeOf(trpc.invitations.accept.mutate({ token }))).toBe('email_not_verified');

    await trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });
    await api.mailTo(account.email, /password/i);
    await trpc.createApiKey.mutate({ name: 'Export', scopes: ['teams:read'] });
    await api.mailTo(account.email, /key/i);
    expect(api.mails.filter((mail) => mail.to === to).every(({ subject }) => VERIFY.test(subject))).toBe(true);
  });

  test('is erased with its last proven address, which its export shows', async ({ api }) => {
    const { account, equipment } = await moved(api, 'signed up');
    const invited = await api.anInvitation(await api.aTeam({ owner: await api.anAccount() }), { email: account.email });
    expect((await equipment.visitor.trpc.account.export.query()).account).toMatchObject({ provenEmail: account.email });
    expect((await (await anOperator(api)).delete(`/operator/v1/accounts/${account.id}`)).status).toBe(200);
    await allMailed(api);
    expect(await api.rows('select 1 from invitation where id = $1', [invited.id])).toEqual([]);
    expect(await api.rows('select 1 from account where proven_email is not null and id = $1', [account.id])).toEqual(
      [],
    );
  });

  test('leaves invitations to another account that has its last proven address when it is deleted', async ({ api }) => {
    const { account } = await moved(api, 'signed up');
    await api.anAccount({ email: account.email });
    const invited = await api.anInvitation(await api.aTeam({ owner: await api.anAccount() }), { email: account.email });
    await (await anOperator(api)).delete(`/operator/v1/accounts/${account.id}`);
    expect(await api.rows('select 1 from invitation where id = $1', [invited.id])).toHaveLength(1);
  });

  test('of eight strangers who take an account of their own at once one does', async ({ api }) => {
    const { account, before, token } = await moved(api, 'signed up');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        codeOf(api.visitor().trpc.auth.verifyEmail.mutate({ token, ownAccountPassword: OTHER_PASSWORD })),
      ),
    );
    expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1);
    expect(await belongings(api, account)).toEqual(before);
  });

  test('that is disabled does not keep a stranger from the mailbox', async ({ api }) => {
    const { account, before, to } = await moved(api, 'signed up');
    await (await anOperator(api)).post(`/operator/v1/accounts/${account.id}/disable`);
    const { trpc } = api.visitor();
    await trpc.auth.signUp.mutate({ email: to, password: OTHER_PASSWORD });
    await allMailed(api);
    await trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, to, VERIFY) });
    expect((await trpc.getMe.query()).id).not.toBe(account.id);
    expect(await belongings(api, account)).toEqual(before);
  });
});

describe('an account that was never proven', () => {
  // Guarantees that whoever could have prepared an account for the mailbox of somebody else has nothing of it.
  test('belongs to whoever proves the mailbox, wherever the operator moved it', async ({ api }) => {
    const email = anAddress();
    const person = await aPerson(api, { isVerified: false });
    const key = await api.anApiKey(person);
    const earlier = await as(api, person);
    await move(api, person, { email });
    await api.visitor().trpc.auth.resendVerification.mutate({ email });
    const { trpc } = api.visitor();
    const token = await tokenTo(api, email, VERIFY);
    expect(await trpc.auth.readVerification.mutate({ token })).not.toHaveProperty('isMoved');

    expect(await codeOf(trpc.auth.verifyEmail.mutate({ token, ownAccountPassword: OTHER_PASSWORD }))).toBe(
      'password_required',
    );
    await trpc.auth.verifyEmail.mutate({ token, newPassword: OTHER_PASSWORD });

    expect((await trpc.getMe.query()).id).toBe(person.id);
    expect((await api.as(key).get('/api/v1/credential')).status).toBe(401);
    expect((await problemOf(earlier.getMe.query())).status).toBe(401);
  });
});

describe('signing up is closed', () => {
  test('a stranger at a new mailbox gets no account', async () => {
    const api = await startApi({ SIGNUP: 'invited' });
    try {
      const account = await aPerson(api);
      const email = anAddress();
      await move(api, account, { email });
      const token = await tokenTo(api, email, VERIFY);
      const { trpc } = api.visitor();
      const asked = trpc.auth.verifyEmail.mutate({ token, ownAccountPassword: OTHER_PASSWORD });
      expect(await codeOf(asked)).toBe('sign_up_closed');
      expect((await accountAt(api, email))?.['id']).toBe(account.id);
    } finally {
      await api.close();
    }
  });
});
