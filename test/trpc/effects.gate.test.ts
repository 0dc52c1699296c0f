import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Meta } from '../../src/procedures/trpc.ts';
import { appRouter } from '../../src/router.ts';
import { aScene, MUTATIONS, type Prepared, type Scene } from '../events/mutations.ts';
import { test, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { problemOf, type Visitor } from '../support/browser.ts';
import { setLastProof } from '../support/sessions.ts';
import { gainedIn, GAINS, readAccess } from './access-rows.ts';
import { CASES } from './conditional-effects.ts';
import { outcomeOf } from './console.ts';
import { PASSWORD, tokenTo } from './people.ts';

type Procedure = { readonly _def: { readonly type: 'query' | 'mutation'; readonly meta?: Meta } };

const ALL = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .filter(([, { _def }]) => _def.type === 'mutation')
  .map(([name, { _def }]) => ({ name, effect: _def.meta?.effect, access: _def.meta?.access }));

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

describe('a session whose last proof is older than 10 minutes', () => {
  test.for(casesOf('widening').map((one, index) => ({ ...one, index })))(
    'cannot call $title, and can after a proof',
    async ({ prepare, index }, { api }) => {
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
      expect(await outcomeOf(call(visitor.trpc))).toBe('done');
    },
  );

  // Guarantees that no effect is declared as none, or left out by its condition, that gives access.
  test.for(casesOf('harmless'))('can call $title, and gets no access by it', async ({ title, prepare }, { api }) => {
    const scene = await aScene(api);
    const { visitor = scene.owner.visitor, call } = await prepare(scene);
    await ageSessions(api);
    const before = await readAccess(api);

    expect(await outcomeOf(call(visitor.trpc))).toBe('done');
    const [, ...allowed] = GAINS[title] ?? [''];
    const gained = gainedIn(before, await readAccess(api));
    expect(gained.filter((table) => !allowed.includes(table))).toEqual([]);
  });

  test('gains only by those that the table names', () => {
    const harmless = new Set(casesOf('harmless').map(({ title }) => title));
    expect(Object.keys(GAINS).filter((name) => !harmless.has(name))).toEqual([]);
  });
});
