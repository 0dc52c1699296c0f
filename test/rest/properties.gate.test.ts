import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test as plainTest } from 'vitest';
import { isAccountOnly } from '../../src/auth/scopes.ts';
import { hashSecret, SECRET_KINDS, secretPattern, createTokens, type SecretKind } from '../../src/crypto/tokens.ts';
import { SCOPES, type Scope } from '../../src/entities/index.ts';
import { slugify } from '../../src/resources/teams/slug.ts';
import { text } from '../../src/procedures/fields.ts';
import { startApi, test as baseTest, type Api } from '../support/api.ts';
import '../support/random.ts';
import type { Answer } from '../support/client.ts';

/** The service without the limits that random sequences would meet. */
const test = baseTest.extend<{ roomy: Api }>({
  roomy: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
    async ({}, use) => {
      const roomy = await startApi({ TEAM_LIMIT: '100000', KEY_LIMIT: '100000' });
      await use(roomy);
      await roomy.close();
    },
    { scope: 'file' },
  ],
});

const scopeSets = fc
  .subarray([...SCOPES], { minLength: 1 })
  .chain((scopes) => fc.shuffledSubarray(scopes, { minLength: scopes.length }));

/** Scopes with which a key can go on: random ones would mostly end a sequence early. */
const mightyScopes = fc.oneof(
  scopeSets,
  scopeSets.map((scopes) => [...new Set<Scope>([...scopes, 'api-keys:write'])]),
);

type Step =
  | { readonly act: 'create'; readonly by: number; readonly scopes: readonly Scope[]; readonly forTeam: boolean }
  | { readonly act: 'update'; readonly by: number; readonly of: number; readonly scopes: readonly Scope[] }
  | { readonly act: 'revoke'; readonly by: number; readonly of: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('create'), by: fc.nat(), scopes: mightyScopes, forTeam: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('update'), by: fc.nat(), of: fc.nat(), scopes: mightyScopes }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('revoke'), by: fc.nat(), of: fc.nat() }) },
);

/** A key as the contract says it has to be. */
type ModelKey = {
  readonly id: string;
  readonly secret: string;
  readonly account: string;
  readonly forTeam: boolean;
  scopes: Scope[];
  revoked: boolean;
};

/** The outcome that the contract demands of a step. */
function demanded(step: Step, caller: ModelKey, target: ModelKey | undefined): string {
  if (caller.revoked) return 'credential_invalid';
  if (!caller.scopes.includes('api-keys:write')) return 'scope_missing';
  if (target !== undefined && (target.account !== caller.account || target.revoked)) return 'api_key_not_found';
  if (step.act === 'revoke') return '200';
  const forTeam = step.act === 'create' ? step.forTeam : target?.forTeam === true;
  if (forTeam && step.scopes.some(isAccountOnly)) return 'scope_account_only';
  if (step.scopes.some((scope) => !caller.scopes.includes(scope))) return 'scope_not_allowed';
  return step.act === 'create' ? '201' : '200';
}

const outcomeOf = ({ status, body }: Answer): string => (status < 400 ? String(status) : (body.code as string));
const sortScopes = (scopes: readonly Scope[]): Scope[] => SCOPES.filter((scope) => scopes.includes(scope));

describe('scopes of API keys', () => {
  // Guarantees that no detour of creating and re-scoping, by whichever key, leads to more than its maker had.
  test('no sequence of createApiKey, updateApiKey and revokeApiKey widens a key beyond its maker', async ({
    roomy: api,
  }) => {
    const starts = fc.array(mightyScopes, { minLength: 2, maxLength: 4 });
    const scenario = fc.asyncProperty(
      starts,
      fc.array(steps, { minLength: 1, maxLength: 16 }),
      async (scopesAtStart, sequence) => {
        const accounts = [await api.anAccount(), await api.anAccount()] as const;
        const team = await api.aTeam({ owner: accounts[0] });
        const role = await api.aRole(team, ['manage_api_keys']);
        await api.aMember(team, accounts[1], { role: role.id });
        const keys: ModelKey[] = [];
        for (const [i, scopes] of scopesAtStart.entries()) {
          const { id: account } = accounts[i % 2 === 0 ? 0 : 1];
          const key = await api.anApiKey({ id: account }, { scopes });
          keys.push({ ...key, account, forTeam: false, scopes: sortScopes(scopes), revoked: false });
        }
        const chosen = (index: number): ModelKey => keys[index % keys.length]!; // there are two at least
        const enforced = async (key: ModelKey) =>
          (await api.as(key).get('/api/v1/credential')).body as { scopes: Scope[]; audience: string };

        for (const step of sequence) {
          const caller = chosen(step.by);
          const target = step.act === 'create' ? undefined : chosen(step.of);
          const held = caller.revoked ? [] : (await enforced(caller)).scopes;
          const answer = await perform(api, step, caller, target, team.id);

          expect(outcomeOf(answer)).toBe(demanded(step, caller, target));
          if (answer.status >= 400) continue;
          if (step.act === 'revoke') {
            if (target !== undefined) target.revoked = true;
            continue;
          }
          const { forTeam } = step.act === 'create' ? step : { forTeam: target?.forTeam === true };
          const made = target ?? {
            id: answer.body.key.id as string,
            secret: answer.body.secret as string,
            account: caller.account,
            forTeam,
            scopes: [],
            revoked: false,
          };
          if (target === undefined) keys.push(made);
          made.scopes = sortScopes(step.scopes);
          const now = await enforced(made);
          expect(now).toMatchObject({ scopes: made.scopes, audience: forTeam ? 'team' : 'personal' });
          expect(now.scopes.filter((scope) => !held.includes(scope))).toEqual([]);
          if (forTeam) expect(now.scopes.filter(isAccountOnly)).toEqual([]);
        }

        for (const key of keys) {
          if (key.revoked) expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
          else expect((await enforced(key)).scopes).toEqual(key.scopes);
        }
      },
    );
    await fc.assert(scenario, { numRuns: 40 });
  });

  function perform(
    api: Api,
    step: Step,
    caller: ModelKey,
    target: ModelKey | undefined,
    teamId: string,
  ): Promise<Answer> {
    if (step.act === 'revoke') return api.as(caller).delete(`/api/v1/api-keys/${target?.id}`);
    if (step.act === 'update') return api.as(caller).patch(`/api/v1/api-keys/${target?.id}`, { scopes: step.scopes });
    return api
      .as(caller)
      .post('/api/v1/api-keys', { name: 'A key', scopes: step.scopes, ...(step.forTeam ? { teamId } : {}) });
  }
});

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

const isName = (name: string): boolean => !name.includes('\u0000') && Array.from(name).length <= 100;

/** Names of any script, of symbols alone, and of words and numbers that could want each other's slugs. */
const names = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
    fc
      .array(fc.constantFrom('Core', '2', '3', '-', '--', "O'Neill", 'Ärzte', '東京', 'Москва', '😀', '٣'), {
        minLength: 1,
        maxLength: 20,
      })
      .map((parts) => parts.join(' ')),
    fc.integer({ min: 40, max: 100 }).map((length) => 'x'.repeat(length)),
  )
  .filter(isName);

describe('slugs', () => {
  plainTest('any name gives lower-case ASCII words joined by hyphens, of at most 60 characters', () => {
    fc.assert(
      fc.property(names, (name) => {
        const slug = slugify(name);
        expect(slug).toMatch(SLUG);
        expect(slug.length).toBeLessThanOrEqual(60);
      }),
      { numRuns: 3000 },
    );
  });

  test('teams of any names, also of the same, all get a slug of their own', async ({ roomy: api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const given = new Set<string>();
    let made = 0;
    const batches = fc.asyncProperty(fc.array(names, { minLength: 2, maxLength: 8 }), async (batch) => {
      const answers = await Promise.all(
        [...batch, ...batch].map((name) => api.as(key).post('/api/v1/teams', { name })),
      );

      for (const { status, body } of answers) {
        expect(status).toBe(201);
        expect(body.slug).toMatch(SLUG);
        expect(body.slug.length).toBeLessThanOrEqual(60);
        given.add(body.slug as string);
      }
      made += answers.length;
      expect(given.size).toBe(made);
    });
    await fc.assert(batches, { numRuns: 30 });
  });
});

describe('secrets', () => {
  const kinds = fc.constantFrom(...(Object.keys(SECRET_KINDS) as SecretKind[])); // Object.keys widens them to string
  const brands = fc.stringMatching(/^[a-z][a-z0-9]{1,9}$/);
  const generated = fc
    .record({ brand: brands, kind: kinds })
    .map(({ brand, kind }) => ({ brand, kind, ...createTokens(brand).generate(kind) }));

  plainTest('a generated secret is recognized, with its prefix and last four characters', () => {
    fc.assert(
      fc.property(generated, ({ brand, kind, secret, hash, keyPrefix, last4 }) => {
        const prefix = `${brand}_${SECRET_KINDS[kind]}_`;
        expect(createTokens(brand).parseKind(secret)).toBe(kind);
        expect(secret).toMatch(secretPattern(brand));
        expect(secret).toHaveLength(prefix.length + 49);
        expect(keyPrefix).toBe(secret.slice(0, prefix.length + 6));
        expect(keyPrefix.startsWith(prefix)).toBe(true);
        expect(last4).toBe(secret.slice(-4));
        expect(hash).toEqual(createHash('sha256').update(secret).digest());
        expect(hashSecret(secret)).toEqual(hash);
      }),
      { numRuns: 500 },
    );
  });

  // Guarantees that a mistyped, cut or lengthened key is rejected before any look-up.
  plainTest('any change of a single character, anywhere, is refused', () => {
    const alphabet = fc.oneof(
      { weight: 8, arbitrary: fc.stringMatching(/^[0-9A-Za-z_]$/) },
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const edits = fc.record({ at: fc.nat(), put: alphabet, how: fc.constantFrom('replace', 'insert', 'delete') });
    fc.assert(
      fc.property(generated, edits, ({ brand, secret }, { at, put, how }) => {
        const place = at % secret.length;
        const changed =
          secret.slice(0, place) + (how === 'delete' ? '' : put) + secret.slice(how === 'insert' ? place : place + 1);
        fc.pre(changed !== secret);
        expect(createTokens(brand).parseKind(changed)).toBeUndefined();
      }),
      { numRuns: 5000 },
    );
  });

  plainTest('two neighbors that change places are refused, and so are cuts, other brands and any other text', () => {
    fc.assert(
      fc.property(generated, fc.nat(), fc.string({ unit: 'binary' }), ({ brand, secret }, at, other) => {
        const foreign = brand.slice(0, 9) + (brand.endsWith('q') ? 'w' : 'q');
        const kindOf = (text: string) => createTokens(brand).parseKind(text);
        const place = at % (secret.length - 1);
        const swapped =
          secret.slice(0, place) + secret.charAt(place + 1) + secret.charAt(place) + secret.slice(place + 2);
        if (swapped !== secret) expect(kindOf(swapped)).toBeUndefined();
        expect(kindOf(secret.slice(0, place))).toBeUndefined();
        expect(kindOf(secret + secret)).toBeUndefined();
        expect(kindOf(other)).toBeUndefined();
        expect(createTokens(foreign).parseKind(secret.replace(brand, foreign))).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  test('the key prefix and the last four characters of an answer are those of its secret', async ({ roomy: api }) => {
    const caller = await api.anApiKey(await api.anAccount(), { scopes: ['api-keys:write', 'teams:read'] });

    const { body } = await api.as(caller).post('/api/v1/api-keys', { name: 'Shown once', scopes: ['teams:read'] });

    expect(body.secret).toMatch(secretPattern('rst'));
    expect(body.key.keyPrefix).toBe(body.secret.slice(0, 'rst_pk_'.length + 6));
    expect(body.key.last4).toBe(body.secret.slice(-4));
  });
});

describe('lengths of text', () => {
  /** Storable text of so many code points, of one to two UTF-16 units each. */
  const textOf = (min: number, max: number) =>
    fc
      .array(
        fc.oneof(
          fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
          fc.constantFrom('a', 'é', '😀', '👩‍🚀'.slice(0, 2), '\u0301'),
        ),
        { minLength: min, maxLength: max },
      )
      .map((points) => points.join(''))
      .filter((value) => !value.includes('\u0000'));

  plainTest('bounds count code points, neither UTF-16 units nor what a reader sees as one character', () => {
    fc.assert(
      fc.property(
        textOf(0, 24),
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 12, max: 20 }),
        (value, min, max) => {
          const length = Array.from(value).length;
          expect(text(min, max).safeParse(value).success).toBe(length >= min && length <= max);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('a team’s name and an account’s names are bounded in code points', async ({ roomy: api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write', 'profile:write'] });
    const bounds = fc.asyncProperty(textOf(97, 103), textOf(1, 3), async (name, firstName) => {
      const team = await api.as(key).post('/api/v1/teams', { name });
      const account = await api.as(key).patch('/api/v1/me', { firstName, lastName: 'Lovelace' });

      expect(team.status).toBe(Array.from(name).length <= 100 ? 201 : 400);
      if (team.status === 201) expect(team.body.name).toBe(name);
      else
        expect(team.body.errors).toEqual([{ in: 'body', pointer: '/name', code: 'max_length', params: { max: 100 } }]);
      expect(account.status).toBe(Array.from(firstName).length >= 2 ? 200 : 400);
      if (account.status === 200) expect(account.body.firstName).toBe(firstName);
      else
        expect(account.body.errors).toEqual([
          { in: 'body', pointer: '/firstName', code: 'min_length', params: { min: 2 } },
        ]);
    });
    await fc.assert(bounds, { numRuns: 60 });
  });
});
