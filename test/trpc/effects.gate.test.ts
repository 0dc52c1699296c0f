import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { Command } from 'commander';
import { GROUPS } from '../../src/cli/commands.ts';
import type { SecretKind } from '../../src/crypto/tokens.ts';
import { NOTICE_PAGES } from '../../src/email/notices.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { aScene, MUTATIONS, type Prepared, type Scene } from '../events/mutations.ts';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf, type Visitor } from '../support/browser.ts';
import { setLastProof } from '../support/sessions.ts';
import { gainedIn, GAINS, readAccess } from './access-rows.ts';
import { CASES } from './conditional-effects.ts';
import { outcomeOf } from './console.ts';
import { PLACES } from './credential-places.ts';
import { PASSWORD, tokenTo } from './people.ts';

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };

const ALL = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .filter(([, { _def }]) => _def.type === 'mutation')
  .map(([name, { _def }]) => ({ name, ..._def.meta }));

/** Mutations that a session can call. Operator keys have no session, and anybody can call the others. */
const OF_SESSIONS = ALL.filter(({ access }) => access !== undefined && !access.isOperatorApi);

const isConditional = (effect: Meta['effect']) => effect?.startsWith('widens if ') === true;

type Case = { readonly title: string; readonly prepare: (scene: Scene) => Promise<Prepared> | Prepared };

const CEREMONIES: readonly (readonly [string, Case['prepare']])[] = [
  ['passkeys.registrationOptions', () => ({ call: (trpc) => trpc.passkeys.registrationOptions.mutate() })],
  ['passkeys.proofOptions', () => ({ call: (trpc) => trpc.passkeys.proofOptions.mutate() })],
];
const PREPARED = new Map<string, Case['prepare']>([
  ...MUTATIONS.map(([name, , prepare]) => [name, prepare] as const),
  ...CEREMONIES,
]);

const casesOf = (which: 'widening' | 'harmless'): Case[] =>
  OF_SESSIONS.flatMap(({ name, effect }) => {
    if (isConditional(effect)) return (CASES[name]?.[which] ?? []).map((prepare) => ({ title: name, prepare }));
    const prepare = PREPARED.get(name);
    return prepare === undefined || (effect === 'none') !== (which === 'harmless') ? [] : [{ title: name, prepare }];
  });

/** Tables that a call writes to whatever its answer, and those of the worker that sends the mails meanwhile. */
const OF_OTHERS = ['session', 'event_payload', 'password_scheme', 'sent_mail', 'webhook_cursor'];

/** What the database holds otherwise. */
async function contents(api: Api): Promise<unknown> {
  const tables = await api.rows<{ name: string }>(
    `select format('%I', tablename) as name from pg_tables where schemaname = 'public'
       and tablename not like 'audit\\_%' and tablename <> all($1) order by 1`,
    [OF_OTHERS],
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await api.rows<{ row: string }>(`select x::text as row from ${name} x order by 1`);
    digests[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }
  const recorded = await api.rows(`select id from audit_event where event <> 'access.denied' order by id`);
  return [digests, recorded.length];
}

const ageSessions = (api: Api) => setLastProof(api, 11);

/** Credentials that a call makes itself. Jobs make the others, and the token endpoint. */
const AT_ONCE: readonly string[] = ['personalKey', 'teamKey', 'operatorKey', 'clientSecret', 'invitation', 'session'];

/** Makes a call, and returns its outcome and the kinds of credentials that it has made. */
async function madeBy(api: Api, call: () => Promise<unknown>) {
  const generate = vi.spyOn(api.services.tokens, 'generate');
  const outcome = await outcomeOf(call());
  const kinds = new Set<SecretKind>(generate.mock.calls.map(([kind]) => kind));
  generate.mockRestore();
  return { outcome, kinds: [...kinds].filter((kind) => AT_ONCE.includes(kind)) };
}

/** Requires that a mutation makes what the table of places says of it. */
function expectListed(name: string, made: readonly string[]): void {
  const listed = PLACES.filter(({ mutations }) => name in mutations).flatMap(({ makes }): string[] => [...makes]);
  expect(made.filter((kind) => !listed.includes(kind))).toEqual([]);
  expect(made.length > 0).toBe(listed.some((kind) => AT_ONCE.includes(kind)));
}

/** The ways to prove who one is, in the browser of somebody. */
const PROOFS: readonly ((api: Api, visitor: Visitor, email: string) => Promise<() => Promise<unknown>>)[] = [
  async (_api, { trpc }) =>
    () =>
      trpc.account.prove.mutate({ password: PASSWORD }),
  async (_api, { trpc }) => {
    const authenticator = createAuthenticator();
    const response = authenticator.create(await trpc.passkeys.registrationOptions.mutate());
    await trpc.passkeys.register.mutate({ name: 'A passkey for the proof', response });
    return async () =>
      trpc.passkeys.prove.mutate({ response: authenticator.get(await trpc.passkeys.proofOptions.mutate()) });
  },
  async (api, { trpc }, email) =>
    async () => {
      await trpc.auth.emailSignInLink.mutate({ email });
      await trpc.auth.signInWithLink.mutate({ token: await tokenTo(api, email, /sign-in link/) });
    },
];
const BY_LINK = 2;

test('every mutation declares its effect, and what depends on the case has both cases', () => {
  expect(ALL.length).toBeGreaterThan(110);
  for (const { name, effect } of ALL) expect([name, effect]).toEqual([name, expect.any(String)]);

  const conditional = OF_SESSIONS.filter(({ effect }) => isConditional(effect)).map(({ name }) => name);
  expect(Object.keys(CASES).toSorted()).toEqual(conditional.toSorted());
  const covered = [...casesOf('widening'), ...casesOf('harmless')].map(({ title }) => title);
  expect([...new Set(covered)].toSorted()).toEqual(OF_SESSIONS.map(({ name }) => name).toSorted());
});

test('docs/trpc.md lists every procedure that needs a proof, and when', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/trpc.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (`.*`) \| (always|if .*) \|$/gm)].flatMap(([, names = '', when]) =>
    names.split(', ').map((name) => `${name.slice(1, -1)} ${when}`),
  );
  const declared = OF_SESSIONS.filter(({ effect }) => effect !== 'none').map(
    ({ name, effect = 'none' }) => `${name} ${isConditional(effect) ? effect.slice('widens '.length) : 'always'}`,
  );
  expect(rows.toSorted()).toEqual(declared.toSorted());
});

// Guarantees that no session, of whatever account, is asked for what an emailed link proves.
test('what anybody can call has no lasting effect, or the proof in its link', () => {
  const effects = new Set(ALL.filter(({ access }) => access === undefined).map(({ effect }) => effect));
  expect(effects).toEqual(new Set(['none', 'weakens by link']));
});

const MAKING = /\btokens\.generate\(|= generateSecret\(|create\(Passkey\b|'secret_hash, /g;

// Guarantees that no credential is made of which nobody has considered what it needs and who is told.
test('every place that makes a credential is listed with its effect, proof and notice', async () => {
  const root = join(import.meta.dirname, '../../src');
  const found = globSync('**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(MAKING)].map(() => file),
  );
  expect(PLACES.map(({ file }) => file).toSorted()).toEqual(found.toSorted());

  const effects = new Map(ALL.map(({ name, effect }) => [name, effect]));
  for (const { mutations } of PLACES)
    for (const [name, effect] of Object.entries(mutations)) expect([name, effects.get(name)]).toEqual([name, effect]);
  const notices = PLACES.map(({ notice }) => notice).filter((notice) => !/^(?:none: .|new_device$)/.test(notice));
  expect(notices.filter((notice) => !(notice in NOTICE_PAGES))).toEqual([]);
  const signsIn = ALL.filter(({ authenticates = '' }) => /session/.test(authenticates)).map(({ name }) => name);
  const session = PLACES.flatMap(({ makes, mutations }) => (makes.includes('session') ? Object.keys(mutations) : []));
  expect([...new Set(session)].toSorted()).toEqual(signsIn.toSorted());

  const commands = PLACES.flatMap(({ others = {} }) => Object.keys(others)).flatMap((name) =>
    name.startsWith('roster ') ? [name.split(' ').slice(1)] : [],
  );
  expect(commands.length).toBeGreaterThan(5);
  for (const [group = '', ...names] of commands) {
    const filled = new Command(group);
    (await GROUPS[group]?.[1]())?.(filled);
    expect(Object.keys(GROUPS)).toContain(group);
    expect(filled.commands.map((command) => command.name())).toEqual(expect.arrayContaining(names));
  }
});

describe('a session whose last proof is older than 10 minutes', () => {
  test.for(casesOf('widening').map((one, index) => ({ ...one, index })))(
    'cannot call $title, and can after a proof',
    async ({ title, prepare, index }, { api }) => {
      const scene = await aScene(api);
      const { visitor = scene.owner.visitor, call } = await prepare(scene);
      // Others than the owner have no password.
      const isOwner = visitor === scene.owner.visitor;
      const email = isOwner ? scene.owner.email : scene.member.email;
      const prove = await PROOFS[isOwner ? index % PROOFS.length : BY_LINK]!(api, visitor, email);
      await ageSessions(api);
      const before = await contents(api);

      expect(await problemOf(call(visitor.trpc))).toMatchObject({ code: 'proof_required', status: 403 });
      expect(await contents(api)).toEqual(before);

      await prove();
      const { outcome, kinds } = await madeBy(api, () => call(visitor.trpc));
      expect(outcome).toBe('done');
      expectListed(title, kinds);
    },
  );

  // Guarantees that no effect is declared as none, or left out by its condition, that gives access.
  test.for(casesOf('harmless'))('can call $title, and gets no access by it', async ({ title, prepare }, { api }) => {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);
    await ageSessions(api);
    const before = await readAccess(api);

    const { outcome, kinds } = await madeBy(api, () => call(visitor.trpc));
    expect(outcome).toBe('done');
    expectListed(title, kinds);
    const [, ...allowed] = GAINS[title] ?? [''];
    const gained = gainedIn(before, await readAccess(api));
    expect(gained.filter((table) => !allowed.includes(table))).toEqual([]);
  });

  test('gains only by those that the table names', () => {
    // Those of the operator API are called in `test/trpc/credential-locks.test.ts`.
    const ofKeys = ALL.filter(({ effect, access }) => effect === 'none' && access?.isOperatorApi).map(
      ({ name }) => name,
    );
    const harmless = new Set([...casesOf('harmless').map(({ title }) => title), ...ofKeys]);
    expect(Object.keys(GAINS).filter((name) => !harmless.has(name))).toEqual([]);
  });
});
