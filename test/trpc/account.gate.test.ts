import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { withKey } from './console.ts';
import {
  accountAt,
  allMailed,
  anAddress,
  aPerson,
  aSignedIn,
  codeOf,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
  tokenTo,
} from './people.ts';

const CONFIRM = /^Confirm your new email address$/;

const mailsTo = (api: Api, address: string) =>
  api.mails.filter(({ to }) => to === address).map(({ subject }) => subject);

describe('every procedure of an account', () => {
  // Guarantees that what concerns a person is no matter for keys.
  test('needs a session', async ({ api }) => {
    const account = await aPerson(api);
    const key = await api.anApiKey(account, { scopes: ['profile:read', 'profile:write'] });
    const post = (caller: ReturnType<Api['as']>, path: string) => caller.post(`/trpc/${path}`, {});

    for (const path of [
      'account.changePassword',
      'account.changeEmail',
      'account.updateProfile',
      'account.delete',
      'sessions.revokeOthers',
    ]) {
      expect((await post(api.as(key), path)).body.error.data.problem.code).toBe('session_required');
      expect(await codeOf(api.visitor().trpc.account.delete.mutate())).toBe('credential_missing');
    }
    for (const path of ['account.activity?input=%7B%7D', 'account.export'])
      expect((await api.as(key).get(`/trpc/${path}`)).body.error.data.problem.code).toBe('session_required');
    expect(await accountAt(api, account.email)).toBeDefined();
  });

  test('is no operation of the REST API', async ({ api }) => {
    const { paths } = (await api.anonymous.get('/api/v1/openapi.json')).body as { paths: Record<string, object> };

    expect(Object.values(paths).flatMap((path) => Object.keys(path))).toHaveLength(20);
    expect(Object.keys(paths).join()).not.toMatch(/auth|account|password/);
  });
});

describe('account.changePassword', () => {
  test('ends all other sessions and renews this one', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    const other = api.visitor();
    await signIn(other, email);
    const before = visitor.cookies.get('roster_session_3000') ?? '';

    await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

    expect(await codeOf(other.trpc.getMe.query())).toBe('credential_invalid');
    expect((await visitor.trpc.getMe.query()).id).toBe(id);
    expect(await visitor.trpc.listMySessions.query()).toHaveLength(1);
    const old = api.visitor();
    old.cookies.set('roster_session_3000', before);
    expect(await codeOf(old.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(other, email))).toBe('sign_in_failed');
    expect(await codeOf(signIn(other, email, OTHER_PASSWORD))).toBe('ok');
    await api.mailTo(email, /password was changed/);
  });

  test('lists what else gives access, and revokes all of it but the session that changed it', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    const key = await api.anApiKey({ id }, { scopes: ['profile:read'] });
    const grant = await api.aGrant({ id }, { scopes: ['profile:read'] });

    const { access, revocationToken } = await visitor.trpc.account.changePassword.mutate({
      newPassword: OTHER_PASSWORD,
    });
    expect(access.map(({ id: of }) => of).toSorted()).toEqual([key.id, grant.id].toSorted());
    expect(await codeOf(withKey(api, key).getMe.query())).toBe('ok');

    await visitor.trpc.auth.revokeRemainingAccess.mutate({ token: revocationToken });
    expect(await codeOf(withKey(api, key).getMe.query())).toBe('credential_invalid');
    expect(await api.rows('select 1 from oauth_grant where id = $1 and revoked_at is null', [grant.id])).toEqual([]);
    expect((await visitor.trpc.getMe.query()).id).toBe(id);
    expect(
      await api.rows(`select 1 from audit_event where target_id = $1 and details->>'reason' = 'password changed'`, [
        key.id,
      ]),
    ).toHaveLength(1);
  });

  test('rejects what sign-up rejects', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    for (const newPassword of ['password1', email, 'short']) {
      const problem = await problemOf(visitor.trpc.account.changePassword.mutate({ newPassword }));
      expect(problem).toMatchObject({ code: 'validation_failed', errors: [{ in: 'body', pointer: '/newPassword' }] });
    }
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('ok');
  });

  // Guarantees that links requested by someone who knew the old password do not outlive it.
  test('ends links to reset and to change the address', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const newEmail = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const change = await tokenTo(api, newEmail, CONFIRM);
    const reset = await tokenTo(api, email, /^Reset/);

    await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: change }))).toBe('link_invalid');
    expect(await codeOf(visitor.trpc.auth.resetPassword.mutate({ token: reset, password: PASSWORD }))).toBe(
      'link_invalid',
    );
  });

  test('gives an account without a password one', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    await api.rows('update account set password_hash = null where id = $1', [id]);

    await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

    expect(await codeOf(signIn(api.visitor(), email, OTHER_PASSWORD))).toBe('ok');
  });
});

describe('changing the address', () => {
  test('takes effect with the link emailed to the new address, and notifies the old one', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const newEmail = anAddress();

    expect(await visitor.trpc.account.changeEmail.mutate({ newEmail })).toEqual({ success: true });
    const mail = await api.mailTo(newEmail, CONFIRM);
    expect(mail.text).toContain('http://localhost:3000/confirm-email?token=');
    expect((await visitor.trpc.getMe.query()).email).toBe(email);

    const token = await tokenTo(api, newEmail, CONFIRM);
    expect(await api.visitor().trpc.account.confirmEmailChange.mutate({ token })).toEqual({ success: true });

    expect(await visitor.trpc.getMe.query()).toMatchObject({
      email: newEmail,
      emailVerified: expect.any(String) as string,
    });
    expect((await api.mailTo(email, /address was changed/)).text).toContain(newEmail.replace('.', '. '));
    expect(await codeOf(signIn(api.visitor(), email))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), newEmail))).toBe('ok');
  });

  test('answers the same for an address that is taken, and does not email its owner', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const taken = await aPerson(api);

    expect(await visitor.trpc.account.changeEmail.mutate({ newEmail: taken.email.toUpperCase() })).toEqual({
      success: true,
    });
    await allMailed(api);

    expect([...mailsTo(api, taken.email), ...mailsTo(api, taken.email.toUpperCase())]).toEqual([]);
    expect(mailsTo(api, email)).toEqual(['Change of your email address requested']);
  });

  test('is replaced by a later request; the earlier links stop working', async ({ api }) => {
    const { visitor } = await aSignedIn(api);
    const [first, second] = [anAddress(), anAddress()];
    await visitor.trpc.account.changeEmail.mutate({ newEmail: first });
    const firstToken = await tokenTo(api, first, CONFIRM);
    await visitor.trpc.account.changeEmail.mutate({ newEmail: second });

    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: firstToken }))).toBe('link_invalid');
    expect(
      await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, second, CONFIRM) })),
    ).toBe('ok');
  });

  test('of two accounts to one address gives it to the first, and the other link does not work', async ({ api }) => {
    const people = [await aSignedIn(api), await aSignedIn(api)];
    const newEmail = anAddress();
    const tokens: string[] = [];
    for (const { visitor } of people) {
      await visitor.trpc.account.changeEmail.mutate({ newEmail });
      await allMailed(api);
      tokens.push(await tokenTo(api, newEmail, CONFIRM));
    }
    expect(new Set(tokens).size).toBe(2);

    const answers = await Promise.all(
      [...tokens, ...tokens, ...tokens, ...tokens].map((token) =>
        codeOf(api.visitor().trpc.account.confirmEmailChange.mutate({ token })),
      ),
    );

    expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'link_invalid')).toHaveLength(7);
    expect(await api.rows('select 1 from account where email = $1', [newEmail])).toHaveLength(1);
  });

  // Guarantees that a link in the old mailbox is of no use for an account that has left it.
  test('ends the links that were mailed to the old one', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const newEmail = anAddress();
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    const reset = await tokenTo(api, email, /^Reset/);
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    await visitor.trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, newEmail, CONFIRM) });

    expect(await codeOf(visitor.trpc.auth.resetPassword.mutate({ token: reset, password: OTHER_PASSWORD }))).toBe(
      'link_invalid',
    );
  });

  // Guarantees that the owner of a mistyped address learns nothing about the account.
  test('does not notify an old email address that was never verified', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api, { isVerified: false });
    const newEmail = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    await visitor.trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, newEmail, CONFIRM) });
    await allMailed(api);

    expect(mailsTo(api, email)).toEqual([]);
  });

  test('has a link that expires after a day', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    const newEmail = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    const token = await tokenTo(api, newEmail, CONFIRM);
    await api.rows(`update account_token set expires_at = expires_at - interval '24 hours' where account_id = $1`, [
      id,
    ]);

    expect(await codeOf(visitor.trpc.account.confirmEmailChange.mutate({ token }))).toBe('link_invalid');
  });
});

describe('account.updateProfile', () => {
  test('changes what is given, in its canonical spelling, and leaves the rest', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    const { updateProfile } = visitor.trpc.account;
    const avatar = 'https://images.example/me.png?size=64';

    expect(await updateProfile.mutate({ avatar, preferredLocale: 'DE-at' })).toMatchObject({
      id,
      email,
      avatar,
      preferredLocale: 'de-AT',
    });
    expect(await updateProfile.mutate({ avatar: null })).toMatchObject({ avatar: null, preferredLocale: 'de-AT' });
    expect(await updateProfile.mutate({})).toEqual(await visitor.trpc.getMe.query());
    expect(await updateProfile.mutate({ preferredLocale: null })).toMatchObject({ preferredLocale: null });
  });

  test.for([
    [{ avatar: 'http://images.example/me.png' }, 'invalid_format'],
    [{ avatar: 'javascript:alert(1)' }, 'invalid_format'],
    [{ avatar: 'data:image/png;base64,AAAA' }, 'invalid_format'],
    [{ avatar: 'https://user:secret@images.example/' }, 'invalid_format'],
    [{ avatar: 'https://images.example/me.png\r\nSet-Cookie: a=b' }, 'invalid_format'],
    [{ avatar: `https://images.example/${'x'.repeat(2048)}` }, 'max_length'],
    [{ avatar: '' }, 'min_length'],
    [{ avatar: 7 }, 'invalid_type'],
    [{ preferredLocale: 'not a tag' }, 'invalid_format'],
    [{ preferredLocale: 'x' }, 'invalid_format'],
    [{ preferredLocale: 'en\u0000' }, 'invalid_format'],
    [{ preferredLocale: ['de'] }, 'invalid_type'],
  ] as const)('refuses %j', async ([input, code], { api }) => {
    const { visitor } = await aSignedIn(api);
    const before = await visitor.trpc.getMe.query();

    const problem = await problemOf(visitor.trpc.account.updateProfile.mutate(input as never)); // what the types would refuse

    expect(problem.code).toBe('validation_failed');
    expect(problem.errors).toContainEqual(
      expect.objectContaining({ in: 'body', pointer: `/${Object.keys(input)[0]}`, code }),
    );
    expect(await visitor.trpc.getMe.query()).toEqual(before);
  });

  test('changes only its own fields, and no other account', async ({ api }) => {
    const { visitor, email } = await aSignedIn(api);
    const other = await aPerson(api);
    const before = await accountAt(api, other.email);
    const more = {
      id: other.id,
      accountId: other.id,
      userId: other.id,
      role: 'admin',
      email: 'taken@example.com',
      emailVerified: null,
      passwordHash: 'x',
    };

    const me = await visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'fr', ...more });

    expect(me).toMatchObject({
      email,
      role: 'user',
      preferredLocale: 'fr',
      emailVerified: expect.any(String) as string,
    });
    expect(await accountAt(api, other.email)).toEqual(before);
    expect(await codeOf(signIn(api.visitor(), email))).toBe('ok');
  });
});

describe('sessions.revokeOthers', () => {
  test('ends all but the one that asks, and counts the active ones', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    const others = [api.visitor(), api.visitor()];
    for (const other of others) await signIn(other, email);
    await api.aSession({ id }, { expiresAt: new Date(Date.now() - 1000) });
    const stranger = await aSignedIn(api);

    expect(await visitor.trpc.sessions.revokeOthers.mutate()).toEqual({ revoked: 2 });

    for (const other of others) expect(await codeOf(other.trpc.getMe.query())).toBe('credential_invalid');
    expect(await visitor.trpc.listMySessions.query()).toHaveLength(1);
    expect(await codeOf(stranger.visitor.trpc.getMe.query())).toBe('ok');
    expect(await visitor.trpc.sessions.revokeOthers.mutate()).toEqual({ revoked: 0 });
  });
});

describe('account.delete', () => {
  test('ends everything of the account', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    const alone = await api.aTeam({ owner: { id } });
    const role = await api.aRole(alone, ['invite_members']);
    await api.anInvitation(alone, { role: role.id });
    const joined = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(joined, { id }, { role: 'member' });
    const sent = await api.anInvitation(joined);
    await api.rows('update invitation set invited_by_id = $1 where id = $2', [id, sent.id]);
    const key = await api.anApiKey({ id }, { scopes: ['profile:read'] });
    await api.anApiKey({ id }, { team: joined });
    await visitor.trpc.auth.forgotPassword.mutate({ email });

    const before = visitor.cookies.get('roster_session_3000') ?? '';
    expect(await visitor.trpc.account.delete.mutate()).toEqual({ success: true });

    expect(visitor.cookies.has('roster_session_3000')).toBe(false);
    visitor.cookies.set('roster_session_3000', before);
    expect(await codeOf(visitor.trpc.getMe.query())).toBe('credential_invalid');
    expect(await codeOf(signIn(api.visitor(), email))).toBe('sign_in_failed');
    expect(await api.as(key).get('/api/v1/me')).toBeProblem('credential_invalid');
    for (const table of ['session', 'known_device', 'account_token', 'membership', 'api_key']) {
      expect(await api.rows(`select 1 from ${table} where account_id = $1`, [id])).toEqual([]);
    }
    expect(await api.rows('select 1 from team where id = $1', [alone.id])).toEqual([]);
    expect(await api.rows('select invited_by_id from invitation where id = $1', [sent.id])).toEqual([
      { invited_by_id: null },
    ]);
    expect(await api.rows('select 1 from membership where team_id = $1', [joined.id])).toHaveLength(1);
  });

  test.for([{ active: true }, { active: false }, { expiresAt: new Date(0) }])(
    'is refused while it owns a team with another member: %j',
    async (state, { api }) => {
      const { id, visitor } = await aSignedIn(api);
      const alone = await api.aTeam({ owner: { id } });
      const shared = await api.aTeam({ owner: { id } });
      await api.aMember(shared, await api.anAccount(), state);

      expect(await problemOf(visitor.trpc.account.delete.mutate())).toMatchObject({
        code: 'account_owns_teams',
        status: 409,
      });

      expect(await codeOf(visitor.trpc.getMe.query())).toBe('ok');
      expect(await api.rows('select 1 from team where id = any($1)', [[alone.id, shared.id]])).toHaveLength(2);
    },
  );

  test('is refused to the last operator who is not disabled, and open to all others', async ({ api }) => {
    const operators = [await aSignedIn(api), await aSignedIn(api), await aSignedIn(api)] as const;
    const [first, second, disabled] = operators;
    await api.rows(`update account set role = 'user' where role = 'admin'`);
    await api.rows(`update account set role = 'admin' where id = any($1)`, [operators.map(({ id }) => id)]);
    await api.rows('update account set disabled_at = now() where id = $1', [disabled.id]);

    expect(await codeOf(second.visitor.trpc.account.delete.mutate())).toBe('ok');
    expect(await problemOf(first.visitor.trpc.account.delete.mutate())).toMatchObject({
      code: 'last_operator',
      status: 409,
    });
    expect(await codeOf(first.visitor.trpc.getMe.query())).toBe('ok');
    expect(await codeOf((await aSignedIn(api)).visitor.trpc.account.delete.mutate())).toBe('ok');
  });

  test('by all operators at once leaves one', async ({ api }) => {
    await api.rows(`update account set role = 'user' where role = 'admin'`);
    const operators = await Promise.all(Array.from({ length: 5 }, () => aSignedIn(api)));
    await api.rows(`update account set role = 'admin' where id = any($1)`, [operators.map(({ id }) => id)]);

    const answers = await Promise.all(operators.map(({ visitor }) => codeOf(visitor.trpc.account.delete.mutate())));

    expect(answers.toSorted()).toEqual(['last_operator', 'ok', 'ok', 'ok', 'ok']);
    expect(await api.rows(`select 1 from account where role = 'admin'`)).toHaveLength(1);
  });

  // Guarantees that no team is left without an owner, and that no calls deadlock.
  test('concurrently with new teams leaves no team without an owner', async ({ api }) => {
    const people = await Promise.all(Array.from({ length: 6 }, () => aSignedIn(api)));

    const answers = await Promise.all(
      people.flatMap(({ visitor }) => [
        codeOf(visitor.trpc.createTeam.mutate({ name: 'At the same moment' })),
        codeOf(visitor.trpc.account.delete.mutate()),
        codeOf(visitor.trpc.createTeam.mutate({ name: 'At the same moment' })),
        codeOf(visitor.trpc.account.delete.mutate()),
      ]),
    );

    const faults = new Set(['internal_error', 'service_unavailable']);
    expect(answers.filter((answer) => faults.has(answer))).toEqual([]);
    expect(
      await api.rows(
        `select 1 from team t where name = 'At the same moment' and not exists (select from membership m where m.team_id = t.id)`,
      ),
    ).toEqual([]);
    expect(await api.rows('select 1 from account where id = any($1)', [people.map(({ id }) => id)])).toEqual([]);
  });
});

describe('account.activity', () => {
  test('lists what the user did and what others did to the account, and whose address it was', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    const owner = await aSignedIn(api);
    const team = await api.aTeam({ owner });
    await api.aMember(team, { id }, { role: 'guest' });
    await visitor.trpc.account.updateProfile.mutate({ firstName: 'Ada', lastName: 'Lovelace' });
    await owner.visitor.trpc.members.setRole.mutate({ teamId: team.id, userId: id, roleId: 'member' });
    await owner.visitor.trpc.account.updateProfile.mutate({ firstName: 'Charles', lastName: 'Babbage' });

    const { events } = await visitor.trpc.account.activity.query({});
    expect(events.slice(0, 3)).toMatchObject([
      {
        event: 'member.role_changed',
        isOwn: false,
        address: null,
        requestId: null,
        teamId: team.id,
        target: { name: 'Member' },
      },
      { event: 'account.profile_changed', isOwn: true, address: '127.0.0.1' },
      { event: 'session.created', isOwn: true, address: '127.0.0.1' },
    ]);
    expect(JSON.stringify(events)).not.toContain(owner.id);

    const pages: (string | undefined)[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await visitor.trpc.account.activity.query({ limit: 1, ...(cursor && { cursor }) });
      pages.push(page.events[0]?.id);
      cursor = page.nextCursor;
    }
    expect(pages.filter(Boolean)).toEqual(events.map(({ id }) => id));
  });

  // Guarantees that an account does not learn what operators looked at.
  test('leaves out what is for operators alone', async ({ api }) => {
    const { id, visitor } = await aSignedIn(api);
    await api.rows(
      `insert into audit_event (id, occurred_at, event, actor_kind, actor_id, account_id, details)
       select 'evt_z' || n, now(), event, 'operator_session', 'acc_operator', $1, '{}'
       from unnest(array['operator.account_viewed', 'sign_in.denied', 'account.profile_changed']) with ordinality e (event, n)`,
      [id],
    );
    const { events } = await visitor.trpc.account.activity.query({ limit: 3 });
    expect(events).toMatchObject([{ event: 'account.profile_changed', actorKind: 'operator', isOwn: false }]);
    expect(JSON.stringify(events)).not.toContain('acc_operator');
  });
});

describe('account.export', () => {
  test('has everything that is stored about the account, nothing of others, and no secret', async ({ api }) => {
    const { id, email, visitor } = await aSignedIn(api);
    const other = await aSignedIn(api);
    const team = await api.aTeam({ owner: { id }, name: 'Analytical Engine' });
    for (const holder of [{ id }, other]) {
      const key = await api.anApiKey(holder, { team });
      await api.anApiKey(holder, { revoked: true });
      await api.rows('insert into api_key_use (api_key_id, day, requests) values ($1, current_date, 3)', [key.id]);
      await api.aGrant(holder, { client: await api.anOAuthClient({ owner: holder }), scopes: ['teams:read'] });
      await api.rows(
        `insert into passkey (id, created_at, account_id, name, credential_id, public_key, counter, transports)
         values ('psk_' || $1, now(), $1, 'Laptop', $1, 'a public key', 0, '{internal}')`,
        [holder.id],
      );
    }
    const invitation = await api.anInvitation(team);
    await api.rows('update invitation set invited_by_id = $2 where id = $1', [invitation.id, id]);

    const stored = await visitor.trpc.account.export.query();
    expect(stored.account).toMatchObject({ id, email, hasPassword: true });
    expect(stored.memberships).toMatchObject([{ teamName: 'Analytical Engine', roleId: 'owner' }]);
    expect(stored.apiKeys).toHaveLength(2);
    expect(stored.apiKeyUses).toMatchObject([{ requests: 3 }]);
    expect(stored.invitationsSent).toMatchObject([{ email: invitation.email }]);
    expect(stored.passkeys).toMatchObject([{ name: 'Laptop', transports: ['internal'] }]);
    for (const [name, rows] of Object.entries(stored)) expect(rows, name).not.toEqual([]);
    const text = JSON.stringify(stored);
    expect(text).not.toContain(other.id);
    expect(text).not.toMatch(/hash|secret|\$argon2|a public key/i);
    expect(stored.sessions[0]?.['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });
});
