import { describe, expect } from 'vitest';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import type { Visitor } from '../support/browser.ts';
import { aPerson, codeOf, signIn } from './people.ts';
import { NO_WAYS_IN, WAYS_IN, WRONG_PASSWORD, type Owner, type WayIn } from './ways-in.ts';

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };

const PUBLIC = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .filter(([, { _def }]) => _def.meta?.access === undefined)
  .map(([path]) => path);

/** One attempt uses up a limit. */
const test = testWith(() =>
  startApi({
    TRUST_PROXY: '1',
    SIGN_IN_LIMIT: '1',
    SIGN_IN_ADDRESS_LIMIT: '1',
    LINK_MAILS_PER_HOUR: '1',
  }),
);

let addresses = 0;

/** A client address that no other test has. */
const anywhere = (): string => `10.0.0.${(addresses += 1)}`;

/** A browser at a client address. */
function at(api: Api, address: string): Visitor {
  const visitor = api.visitor();
  visitor.headers['x-forwarded-for'] = address;
  return visitor;
}

async function anOwner(api: Api, { isUnverified = false, isSignedIn = false }: Partial<WayIn> = {}): Promise<Owner> {
  const { id, email } = await aPerson(api);
  const home = anywhere();
  const visitor = at(api, home);
  const { trpc } = visitor;
  await signIn(visitor, email);
  const passkey = createAuthenticator();
  const response = passkey.create(await trpc.passkeys.registrationOptions.mutate());
  await trpc.passkeys.register.mutate({ name: 'A passkey', response });
  if (isUnverified) await api.rows('update account set email_verified_at = null where id = $1', [id]);
  if (!isSignedIn) await trpc.auth.signOut.mutate();
  return { email, home, visitor, passkey };
}

const STRANGERS = Object.entries(WAYS_IN).flatMap(([path, { byStrangers }]) =>
  byStrangers === undefined ? [] : [{ path, attempt: byStrangers }],
);

/** What strangers at the client address of the owner get, each in a browser of their own. */
async function attemptAll(api: Api, owner: Owner): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { path, attempt } of STRANGERS) answers[path] = await codeOf(attempt(at(api, owner.home), owner));
  return answers;
}

const ALL_LIMITED = Object.fromEntries(STRANGERS.map(({ path }) => [path, 'rate_limited']));

/** Uses up every limit: of the email address from anywhere, of the mailbox, and of the client address. */
async function exhaust(api: Api, owner: Owner): Promise<void> {
  const { email } = owner;
  for (const kind of ['forgotPassword', 'emailSignInLink', 'resendVerification'] as const)
    await at(api, anywhere()).trpc.auth[kind].mutate({ email });
  expect(await codeOf(signIn(at(api, anywhere()), email, WRONG_PASSWORD))).toBe('sign_in_failed');
  expect(await codeOf(signIn(at(api, anywhere()), email, WRONG_PASSWORD))).toBe('rate_limited');
  await attemptAll(api, owner);
}

test('every public procedure is declared as a way in or as none', () => {
  expect([...PUBLIC].toSorted()).toEqual(
    [...Object.keys(WAYS_IN).filter((path) => PUBLIC.includes(path)), ...Object.keys(NO_WAYS_IN)].toSorted(),
  );
  expect(PUBLIC.length).toBeGreaterThan(15);
  // Strangers can attempt each of them.
  expect(STRANGERS.map(({ path }) => path).toSorted()).toEqual(
    PUBLIC.filter((path) => !(path in NO_WAYS_IN)).toSorted(),
  );
});

// Guarantees that the owner always gets in, whatever strangers have used up, and that they stay limited.
describe('after strangers used up every limit', () => {
  test.for(Object.entries(WAYS_IN))('%s works for the owner in a known browser', async ([, way], { api }) => {
    const owner = await anOwner(api, way);
    const call = await way.prepare(api, owner);
    await exhaust(api, owner);

    expect(await codeOf(call())).toBe('ok');

    expect(await attemptAll(api, owner)).toEqual(ALL_LIMITED);
  });

  test('what is no way in is open to everybody', async ({ api }) => {
    const owner = await anOwner(api);
    await exhaust(api, owner);
    const headers = {
      origin: 'http://localhost:3000',
      'x-forwarded-for': owner.home,
      'content-type': 'application/json',
    };
    const procedures = appRouter._def.procedures as unknown as Record<string, Procedure>; // flat by path

    for (const [path, input] of Object.entries(NO_WAYS_IN)) {
      const method = procedures[path]?._def.type === 'query' ? 'GET' : 'POST';
      const { status } = await api.anonymous.send({ method, path: `/trpc/${path}${input}`, headers });
      expect({ path, status }).toEqual({ path, status: 200 });
    }
  });
});
