import { describe, expect } from 'vitest';
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
    'An API key was created',
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

// Guarantees that an attacker who signs up with another user's address cannot cause notices there.
test('an unverified mailbox gets no notices', async ({ api }) => {
  const { email, visitor } = await aSignedIn(api, { isVerified: false });
  await visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });

  await allMailed(api);
  expect(api.mails.filter(({ to }) => to === email)).toEqual([]);
});

test('a key that a bearer credential creates is not reported', async ({ api }) => {
  const account = await aPerson(api);
  const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'teams:read'] });
  await withKey(api, key).createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] });

  await allMailed(api);
  expect(api.mails.filter(({ to }) => to === account.email)).toEqual([]);
});
