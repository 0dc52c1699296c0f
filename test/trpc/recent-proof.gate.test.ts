import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf, type Visitor } from '../support/browser.ts';
import { setLastProof } from '../support/sessions.ts';
import { withKey } from './console.ts';
import { anAddress, aSignedIn, codeOf, OTHER_PASSWORD, PASSWORD, signIn } from './people.ts';

/** As if the user had signed in some time ago. */
const age = (api: Api, account: { id: string }, minutes: number) => setLastProof(api, minutes, account);

/** An owner with a team, a member, a passkey and a key, whose sign-in is no longer recent. */
async function aStaleOwner(api: Api) {
  const owner = await aSignedIn(api);
  const team = await api.aTeam({ owner });
  const member = await aSignedIn(api);
  await api.aMember(team, member, { role: 'member' });
  const key = await api.anApiKey(owner);
  const authenticator = createAuthenticator();
  const { passkeys } = owner.visitor.trpc;
  const registered = authenticator.create(await passkeys.registrationOptions.mutate());
  await passkeys.register.mutate({ name: 'A passkey', response: registered });
  const unused = createAuthenticator();
  const response = unused.create(await passkeys.registrationOptions.mutate());
  await age(api, owner, 11);
  return { ...owner, team, member, key, authenticator, response };
}

type Owner = Awaited<ReturnType<typeof aStaleOwner>>;

const ACTIONS: readonly (readonly [string, (trpc: Visitor['trpc'], owner: Owner) => Promise<unknown>])[] = [
  ['passkeys.registrationOptions', (trpc) => trpc.passkeys.registrationOptions.mutate()],
  ['passkeys.register', (trpc, { response }) => trpc.passkeys.register.mutate({ name: 'Another', response })],
  ['createApiKey', (trpc) => trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] })],
  [
    'createApiKey for a team',
    (trpc, { team }) => trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'], teamId: team.id }),
  ],
  ['apiKeys.rotate', (trpc, { key }) => trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 })],
  ['account.changeEmail', (trpc) => trpc.account.changeEmail.mutate({ newEmail: anAddress() })],
  ['account.changePassword', (trpc) => trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD })],
  [
    'teams.offerOwnership',
    (trpc, { team, member }) => trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: member.id }),
  ],
  ['teams.delete', (trpc, { team }) => trpc.teams.delete.mutate({ teamId: team.id })],
  ['account.delete', (trpc) => trpc.account.delete.mutate()],
];

const stateOf = (api: Api, { id, team }: Owner) =>
  api.rows(
    `select a.*, (select count(*) from passkey where account_id = a.id) as passkeys,
       (select count(*) from api_key where account_id = a.id) as keys,
       (select count(*) from account_token where account_id = a.id) as links,
       (select count(*) from ownership_transfer where team_id = t.id) as offers, t.id as team
     from account a left join team t on t.id = $2 where a.id = $1`,
    [id, team.id],
  );

describe('a session whose last proof is older than 10 minutes', () => {
  test.for(ACTIONS)('cannot call %s, and nothing changes', async ([, act], { api }) => {
    const owner = await aStaleOwner(api);
    const before = await stateOf(api, owner);

    expect(await problemOf(act(owner.visitor.trpc, owner))).toMatchObject({ code: 'proof_required', status: 403 });

    expect(await stateOf(api, owner)).toEqual(before);
  });

  test('still reads and makes other changes', async ({ api }) => {
    const { visitor } = await aStaleOwner(api);

    expect(await codeOf(visitor.trpc.getMe.query())).toBe('ok');
    expect(await codeOf(visitor.trpc.account.updateProfile.mutate({ preferredLocale: 'de' }))).toBe('ok');
  });

  test('reports until when the proof counts and how it can be renewed', async ({ api }) => {
    const owner = await aStaleOwner(api);
    const { visitor } = owner;
    const proof = { email: owner.email, hasPassword: true, hasPasskey: true };

    expect(await visitor.trpc.account.proof.query()).toEqual({ provenUntil: null, ...proof });
    await age(api, owner, 9);
    const { provenUntil, ...rest } = await visitor.trpc.account.proof.query();
    expect(rest).toEqual(proof);
    expect(Date.parse(provenUntil ?? '') - Date.now()).toBeLessThanOrEqual(60_000);
    expect(await codeOf(visitor.trpc.passkeys.registrationOptions.mutate())).toBe('ok');
  });
});

describe('a proof', () => {
  test.for(ACTIONS)('by password allows %s', async ([name, act], { api }) => {
    const owner = await aStaleOwner(api);

    await owner.visitor.trpc.account.prove.mutate({ password: PASSWORD });

    // The owner of a team with members cannot be deleted, which is checked after the proof.
    const outcome = name === 'account.delete' ? 'account_owns_teams' : 'ok';
    expect(await codeOf(act(owner.visitor.trpc, owner))).toBe(outcome);
  });

  test('by passkey counts', async ({ api }) => {
    const { visitor, authenticator } = await aStaleOwner(api);

    const options = await visitor.trpc.passkeys.proofOptions.mutate();
    expect(options.allowCredentials.map(({ id }) => id)).toEqual([authenticator.credentialId]);
    await visitor.trpc.passkeys.prove.mutate({ response: authenticator.get(options) });

    expect(await codeOf(visitor.trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD }))).toBe('ok');
  });

  test('by the passkey of another account, or by an answer to a sign-in, does not count', async ({ api }) => {
    const owner = await aStaleOwner(api);
    const stranger = await aStaleOwner(api);
    const { passkeys } = owner.visitor.trpc;
    const prove = (response: ReturnType<Owner['authenticator']['get']>) => codeOf(passkeys.prove.mutate({ response }));

    expect(await prove(stranger.authenticator.get(await passkeys.proofOptions.mutate()))).toBe('passkey_refused');
    expect(await prove(owner.authenticator.get(await passkeys.signInOptions.mutate()))).toBe('passkey_refused');
    const ofStranger = await stranger.visitor.trpc.passkeys.proofOptions.mutate();
    expect(await prove(owner.authenticator.get(ofStranger))).toBe('passkey_refused');
    expect((await owner.visitor.trpc.account.proof.query()).provenUntil).toBeNull();
  });

  test('by passkey counts, and registers one, only in the session that asked for it', async ({ api }) => {
    const owner = await aStaleOwner(api);
    const other = api.visitor();
    await signIn(other, owner.email);

    const ofOther = owner.authenticator.get(await other.trpc.passkeys.proofOptions.mutate());
    expect(await codeOf(owner.visitor.trpc.passkeys.prove.mutate({ response: ofOther }))).toBe('passkey_refused');
    await owner.visitor.trpc.account.prove.mutate({ password: PASSWORD });
    const response = createAuthenticator().create(await other.trpc.passkeys.registrationOptions.mutate());
    expect(await codeOf(owner.visitor.trpc.passkeys.register.mutate({ name: 'Mine', response }))).toBe(
      'passkey_refused',
    );
  });

  test('by a wrong password does not count', async ({ api }) => {
    const { visitor } = await aStaleOwner(api);

    expect(await codeOf(visitor.trpc.account.prove.mutate({ password: OTHER_PASSWORD }))).toBe('password_wrong');
    expect(await codeOf(visitor.trpc.account.delete.mutate())).toBe('proof_required');
  });

  test('in one session does not count in another', async ({ api }) => {
    const owner = await aStaleOwner(api);
    const other = api.visitor();
    await signIn(other, owner.email);

    expect(await codeOf(other.trpc.passkeys.registrationOptions.mutate())).toBe('ok');
    expect(await codeOf(owner.visitor.trpc.passkeys.registrationOptions.mutate())).toBe('proof_required');
  });

  test('is recorded with its method', async ({ api }) => {
    const { id, visitor } = await aStaleOwner(api);
    await visitor.trpc.account.prove.mutate({ password: PASSWORD });

    expect(
      await api.rows(`select details from audit_event where event = 'session.proven' and account_id = $1`, [id]),
    ).toEqual([{ details: { method: 'password' } }]);
  });
});

// Guarantees that bearer credentials, which have no sign-in to repeat, work as the contract says.
test('an API key creates keys without a proof', async ({ api }) => {
  const account = await api.anAccount();
  const key = await api.anApiKey(account, { scopes: ['api-keys:write', 'teams:read'] });

  const call = withKey(api, key).createApiKey.mutate({ name: 'A key', scopes: ['teams:read'] });

  expect(await codeOf(call)).toBe('ok');
});
