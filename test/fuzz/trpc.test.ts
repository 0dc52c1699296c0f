import type { AnyTRPCProcedure } from '@trpc/server';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../../src/router.ts';
import { signedIn } from '../support/browser.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import { ENCODINGS, encodings, type Encoding } from './encodings.ts';
import { bodiesOf, valuesOf, write, type Json, type Known, type Schema } from './json.ts';
import { withIds } from './requests.ts';
import { check, isRepetition } from './setting.ts';
import { createWorld, THINGS, type World } from './world.ts';

const test = testWith(() => startApi({ SIGN_IN_LIMIT: '1000000' })).extend<{ fuzzed: Fuzzed }>({
  fuzzed: [async ({ api }, use) => use(await begin(api)), { scope: 'file' }],
});

type Fuzzed = { readonly world: World; readonly callers: Readonly<Record<Caller, Record<string, string>>> };

const CALLERS = ['person', 'stranger', 'foreignPage', 'key', 'teamKey', 'revoked', 'strangeHost', 'garbage'] as const;
type Caller = (typeof CALLERS)[number];

async function begin(api: Api): Promise<Fuzzed> {
  const world = await createWorld(api);
  const [account] = await api.rows<{ id: string }>('select id from account where id = $1', [world.idOf('owner')]);
  const { cookies, headers: own } = await signedIn(api, account ?? { id: '' });
  const cookie = `roster_session_3000=${cookies.get('roster_session_3000')}`;
  const bearing = (secret: string | null) => ({ authorization: `Bearer ${secret}` });
  const callers = {
    person: { ...own, cookie },
    stranger: own,
    foreignPage: { cookie, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' },
    key: bearing(world.credentials.owner.secret),
    teamKey: bearing(world.credentials.teamKey.secret),
    revoked: bearing(world.credentials.revoked.secret),
    strangeHost: { ...own, host: 'a b/?c#d@e:99999', cookie },
    garbage: { authorization: 'Bearer \u00ff', cookie: 'roster_session_3000=%ff; roster_device_3000=x' },
  };
  return { world, callers };
}

const procedures = appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>; // flat by path, which the type of a nested router does not say
const NAMES = Object.keys(procedures);

/** Ids of what there is, for members by their names. */
const known: Known = Object.fromEntries(
  Object.entries(THINGS).map(([name, things]) => [name, fc.constantFrom(...things.map((thing) => `{${thing}}`))]),
);

const inputsOf = (name: string): fc.Arbitrary<Json> => {
  const definition = procedures[name]?._def as unknown as { inputs?: readonly z.ZodType[] } | undefined; // not in the public type
  const [input = z.object({})] = definition?.inputs ?? [];
  return bodiesOf(
    valuesOf(z.toJSONSchema(input, { unrepresentable: 'any', io: 'input' }) as Schema, (schema) => schema, known),
  );
};

type Call = { readonly name: string; readonly input: Json };
type Draft = {
  readonly calls: readonly Call[];
  readonly batch: '1' | '0' | '' | 'none';
  readonly method: string;
  readonly type: string;
  readonly caller: Caller;
  readonly accept: string;
  readonly encoding: Encoding;
  readonly twist: string;
};

const calls: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(...NAMES).chain((name) => inputsOf(name).map((input) => ({ name, input }))),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        'nothing',
        '__proto__',
        'constructor',
        'auth',
        'auth.',
        '.',
        'getMe.x',
        'toString',
        '%00',
        '%zz',
        '',
        '/',
        '//x',
        '/:99999',
      )
      .map((name) => ({ name, input: null })),
  },
);

const drafts: fc.Arbitrary<Draft> = fc.record({
  calls: fc.oneof(
    { weight: 4, arbitrary: calls.map((call) => [call]) },
    { weight: 1, arbitrary: fc.array(calls, { maxLength: 6 }) },
    { weight: 1, arbitrary: calls.map((call) => Array.from({ length: 25 }, () => call)) },
  ),
  batch: fc.constantFrom('1', 'none', 'none', '0', ''),
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('GET', 'POST') },
    { weight: 1, arbitrary: fc.constantFrom('HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE') },
  ),
  type: fc.oneof(
    { weight: 12, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('text/plain', 'multipart/form-data; boundary=x', 'application/octet-stream', ''),
    },
  ),
  caller: fc.oneof(
    { weight: 4, arbitrary: fc.constant('person' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...CALLERS) },
  ),
  accept: fc.oneof(
    { weight: 12, arbitrary: fc.constant('*/*') },
    { weight: 1, arbitrary: fc.constantFrom('application/jsonl', 'text/event-stream', 'text/html') },
  ),
  encoding: encodings,
  twist: fc.oneof(
    { weight: 20, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('/', '//', '?', '&input=%', '&input={', '&batch=1', '#', '%2f..') },
  ),
});

const PLAIN: Draft = {
  calls: [{ name: 'createTeam', input: { members: [['name', 'A team']] } }],
  batch: 'none',
  method: 'POST',
  type: 'application/json',
  caller: 'person',
  accept: '*/*',
  encoding: 'utf8',
  twist: '',
};

/** A call for each status that has to be seen, so that the calls get through and are denied at every step. */
const ON_PURPOSE: Readonly<Record<number, Draft>> = {
  200: { ...PLAIN, method: 'GET', calls: [{ name: 'listTeams', input: null }] },
  400: { ...PLAIN, calls: [{ name: 'createTeam', input: [] }] },
  401: { ...PLAIN, caller: 'revoked' },
  403: { ...PLAIN, caller: 'teamKey' },
  404: { ...PLAIN, calls: [{ name: 'nothing', input: null }] },
  415: { ...PLAIN, type: 'text/plain' },
};

function written(
  { calls: list, batch, method, type, caller, accept, encoding, twist }: Draft,
  { world, callers }: Fuzzed,
): Sent {
  const [{ input } = { input: null }] = list;
  const inputs: Json = batch === '1' ? { members: list.map((call, i) => [String(i), call.input]) } : input;
  const text = withIds(write(inputs), world.idOf);
  const path = `/trpc/${list.map(({ name }) => name).join()}`;
  const query = batch === 'none' ? '' : `batch=${batch}&`;
  const headers = { ...callers[caller], accept, 'trpc-accept': accept, ...(type !== '' && { 'content-type': type }) };
  if (method !== 'GET') return { method, path: `${path}?${query}${twist}`, headers, body: ENCODINGS[encoding](text) };
  // As much as fits into a line.
  const inQuery = encodeURIComponent(text.toWellFormed()).slice(0, 8000);
  return { method, path: `${path}?${query}input=${inQuery}${twist}`, headers };
}

/** Why an answer is none that a client of ours can read, or undefined. */
function faultOf({ method, accept }: Draft, { status, headers, body, text }: Answer): string | undefined {
  if (status >= 500) return 'a fault of ours';
  if (headers['x-request-id'] === undefined) return 'no request id';
  if (!/^\d+$/.test(String(headers['ratelimit-limit']))) return 'no rate headers';
  if (headers['access-control-allow-origin'] !== undefined) return 'another origin may read it';
  if (method === 'HEAD' || status === 204) return undefined;
  // Lines of JSON, for clients that read results as they come.
  if (accept === 'application/jsonl') return /"status":5\d\d/.test(text) ? 'a fault of ours in a stream' : undefined;
  if (!/^application\/(?:problem\+)?json\b/.test(headers['content-type'] ?? '')) return 'no JSON';
  const results: { error?: { data?: { problem?: object } } }[] = headers['content-type']?.includes('problem')
    ? [{ error: { data: { problem: body as object } } }] // just said to be one
    : [body].flat();
  const problems = results.flatMap(({ error }) => (error === undefined ? [] : [error.data?.problem]));
  const isProblem = expect.objectContaining({
    type: expect.stringMatching(/^http/),
    title: expect.any(String),
    status: expect.any(Number),
    code: expect.stringMatching(/^[a-z_]+$/),
    detail: expect.any(String),
    requestId: headers['x-request-id'],
  });
  const broken = problems.some((problem) => !isProblem.asymmetricMatch(problem));
  if (broken) return 'no problem document';
  if (problems.some((problem) => Number((problem as { status: number }).status) >= 500))
    return 'a fault of ours in a batch'; // just matched
  return status >= 400 && problems.length === 0 ? 'a refusal without a problem' : undefined;
}

describe('/trpc', () => {
  const statuses = new Set<number>();

  test('answers every request, and never with a fault of its own', async ({ api, fuzzed }) => {
    await check(
      fc.asyncProperty(
        fc.array(drafts, { minLength: 1, maxLength: 4, size: 'max' }),
        async (together) =>
          void (await Promise.all(
            together.map(async (draft) => {
              const sent = written(draft, fuzzed);
              const answer = await api.anonymous.send(sent);
              const fault = faultOf(draft, answer);
              if (fault !== undefined) {
                throw new Error(
                  `${sent.method} ${sent.path} → ${answer.status}: ${fault}\n${String(sent.body)}\n${answer.text.slice(0, 1000)}`,
                );
              }
              statuses.add(answer.status);
            }),
          )),
      ),
      1200,
      Object.values(ON_PURPOSE).map((draft): [Draft[]] => [[draft]]),
    );
    expect([...statuses]).toEqual(
      isRepetition ? expect.anything() : expect.arrayContaining(Object.keys(ON_PURPOSE).map(Number)),
    );
  });
});
