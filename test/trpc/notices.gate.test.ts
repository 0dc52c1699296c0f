import { describe, expect } from 'vitest';
import type { Scope } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { withKey } from './console.ts';
import { allMailed, anAddress, aPerson, aSignedIn, OTHER_PASSWORD, PASSWORD, signIn, tokenTo } from './people.ts';

type SignedIn = Awaited<ReturnType<typeof aSignedIn>>;

const NOTICES: readonly (readonly [subject: string, act: (api: Api, owner: SignedIn) => Promise<unknown>])[] = [
  [
    'A passkey was added',
    async (_api, { visitor: { trpc } }) => {
      const response = createAuthenticator().create(await trpc.passkeys.registrationOptions.mutate());
      await trpc.passkeys.register.mutate({ name: 'A passkey', response });
    },
  ],
  [
    'An API key was created',
    (_api, { visitor: { trpc } }) => trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] }),
  ],
  [
    'An API key has a new secret',
    async (api, owner) => {
      const key = await api.anApiKey(owner);
      await owner.visitor.trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 });
    },
  ],
  [
    'Change of your email address requested',
    (_api, { visitor: { trpc } }) => trpc.account.changeEmail.mutate({ newEmail: anAddress() }),
  ],
  [
    'Your password was changed',
    (_api, { visitor: { trpc } }) => trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD }),
  ],
  [
    'Your password was reset',
    async (api, { email, visitor: { trpc } }) => {
      await trpc.auth.forgotPassword.mutate({ email });
      const token = await tokenTo(api, email, /^Reset/);
      await trpc.auth.resetPassword.mutate({ token, password: OTHER_PASSWORD });
    },
  ],
  ['Sign-in from a new browser', (api, { email }) => signIn(api.visitor(), email, PASSWORD)],
  [
    'Ownership of your team was offered',
    async (api, owner) => {
      const team = await api.aTeam({ owner });
      const member = await aPerson(api);
      await api.aMember(team, member);
      await owner.visitor.trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id });
    },
  ],
  [
    'Your team was deleted',
    async (api, owner) => {
      const team = await api.aTeam({ owner });
      await owner.visitor.trpc.teams.delete.mutate({ teamId: team.id });
    },
  ],
  ['Your account was deleted', (_api, { visitor: { trpc } }) => trpc.account.delete.mutate()],
];

describe('the owner of an account is notified by email', () => {
  test.for(NOTICES)('%s', async ([subject, act], { api }) => {
    const owner = await aSignedIn(api);
    // Strangers have used up all that can be used up.
    await api.rows(
      `insert into sent_mail (id, recipient, created_at)
       select 'mail_' || kind || '_' || $1 || n, $1, now() from generate_series(1, 30) n,
         unnest(array['invitation', 'already_registered', 'ownership_offered', 'password_changed', 'new_device']) kind`,
      [owner.email],
    );

    await act(api, owner);

    const mail = await api.mailTo(owner.email, new RegExp(`^${subject}$`));
    expect(mail.text).toMatch(/If this wasn’t you/);
  });

  test('of a new address in both mailboxes', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api);
    const newEmail = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail });
    await visitor.trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, newEmail, /^Confirm/) });

    await api.mailTo(email, /^Your email address was changed$/);
    await api.mailTo(newEmail, /^Your email address was changed$/);
  });
});

// `/members` needs `access_dashboard`.
test.for([
  ['access_dashboard', '/members'],
  [null, '/account#activity'],
] as const)('a notice leads a reader with %s to %s', async ([dashboard, page], { api }) => {
  const [owner, giver, member] = [await api.anAccount(), await aSignedIn(api), await api.anAccount()];
  const team = await api.aTeam({ owner });
  const held = ['edit_team_settings', 'invite_members', ...(dashboard === null ? [] : [dashboard])] as const;
  const [role, given] = [await api.aRole(team, held), await api.aRole(team, ['invite_members'])];
  await api.aMember(team, giver, { role: role.id });
  await api.aMember(team, member);
  const input = { teamId: team.id, accountId: member.id, roleId: given.id };
  await giver.visitor.trpc.members.setRole.mutate(input);

  await allMailed(api);
  const { text = '' } = api.mails.find(({ to, subject }) => to === giver.email && subject.includes('role')) ?? {};
  const links = text.split('\n').filter((line) => line.startsWith('http://localhost:3000/'));
  expect(links).toEqual([expect.stringMatching(new RegExp(`${page}$`))]);
});

// Guarantees that an attacker who signs up with another user's address cannot cause notices there.
test('an unverified mailbox gets no notices', async ({ api }) => {
  const { email, visitor } = await aSignedIn(api, { isVerified: false });
  await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

  await allMailed(api);
  expect(api.mails.filter(({ to }) => to === email)).toEqual([]);
});

describe('a key that a key creates', () => {
  test('is reported once, and those that follow within 10 minutes in one email with their number', async ({ api }) => {
    const account = await aPerson(api);
    const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'teams:read'] });
    const create = (name: string) => withKey(api, key).createApiKey.mutate({ name, scopes: ['teams:read'] });
    const told = () => api.mails.filter(({ to }) => to === account.email);
    for (const name of ['First', 'Second', 'Third', 'Fourth']) await create(name);
    await allMailed(api);

    expect(told()).toHaveLength(1);
    expect(told()[0]?.text).toContain('“First”');
    expect(told()[0]?.text).toContain('Done with the API key “A key”');

    await api.rows(`update graphile_worker._private_jobs set run_at = now() where key like 'notice%'`);
    await expect.poll(() => told().length).toBe(2);
    expect(told()[1]?.text).toContain('it happened 3 more times');
    for (const name of ['Second', 'Third', 'Fourth']) expect(told()[1]?.text).toContain(`- “${name}”`);
  });

  test('reports what it gives in two teams in an email for each, which names each person', async ({ api }) => {
    const owner = await aPerson(api);
    const key = await api.anApiKey(owner, { scopes: ['invites:write', 'teams:read'] });
    const teams = await Promise.all(['Alpha', 'Beta'].map((name) => api.aTeam({ owner, name })));
    for (const team of teams) {
      const { id: roleId } = await api.aRole(team, ['invite_members']);
      for (const number of [1, 2, 3])
        await withKey(api, key).createTeamInvitation.mutate({
          teamId: team.id,
          email: `${team.name}${number}@example.com`,
          roleId,
          isSystemRole: false,
        });
    }
    await allMailed(api);
    await api.rows(`update graphile_worker._private_jobs set run_at = now() where key like 'notice%'`);
    const told = () => api.mails.filter(({ to }) => to === owner.email).map(({ text }) => text);

    await expect.poll(() => told().length).toBe(4);
    for (const { name } of teams) {
      const own = told().filter((text) => text.includes(`“${name}”`));
      expect(own).toHaveLength(2);
      for (const number of [1, 2, 3]) expect(own.join('\n')).toContain(`“${name}${number}@`);
    }
  });

  const scopes: Scope[] = ['teams:read', 'api-keys:write'];
  const DAY_MS = 86_400_000;

  // Guarantees that a key gets no second life in silence.
  test.for([
    { maker: null, made: [null], told: 0, is: 'its rotation, and not reported' },
    { maker: null, made: [30], told: 0, is: 'its rotation also if it expires' },
    { maker: 30, made: [30], told: 0, is: 'its rotation for as long as it was given' },
    { maker: 30, made: [31], told: 1, is: 'reported if it lasts longer' },
    { maker: 30, made: [null], told: 1, is: 'reported if it never expires' },
    { maker: null, made: [null, null], told: 1, is: 'reported if it is the second' },
  ])('with its own rights is $is ($maker days, $made)', async ({ maker, made, told }, { api }) => {
    const account = await aPerson(api);
    const end = maker === null ? {} : { expiresAt: new Date(Date.now() + maker * DAY_MS) };
    const key = await api.anApiKey(account, { scopes, ...end });
    for (const days of made)
      await withKey(api, key).createApiKey.mutate({ name: 'A key', scopes, expiresInDays: days ?? undefined });

    await allMailed(api);
    expect(api.mails.filter(({ to }) => to === account.email).map(({ subject }) => subject)).toEqual(
      Array.from({ length: told }, () => 'An API key was created'),
    );
  });

  test('in turn rotates itself in silence only once the key before is revoked', async ({ api }) => {
    const account = await aPerson(api);
    const first = await api.anApiKey(account, { scopes });
    const rotate = async (key: { secret: string }) => {
      const { key: made, secret } = await withKey(api, key).createApiKey.mutate({ name: 'A key', scopes });
      await allMailed(api);
      return { id: made.id, secret, told: api.mails.filter(({ to }) => to === account.email).length };
    };
    const second = await rotate(first);
    await withKey(api, second).revokeApiKey.mutate({ keyId: first.id });
    const third = await rotate(second);
    expect([second.told, third.told]).toEqual([0, 0]);

    expect((await rotate(third)).told).toBe(1);
  });
});
