import fc from 'fast-check';
import type { Sent } from '../support/client.ts';
import type { Described, Description } from './document.ts';
import { ENCODINGS, encodings, type Encoding } from './encodings.ts';
import { bodiesOf, texts, valuesOf, write, type Json } from './json.ts';
import { CREDENTIALS, THINGS, type CredentialName, type Thing, type World } from './world.ts';

/** A parameter: the id of something there is, a text that gets encoded, or what stands in the path as it is. */
type Param = { readonly thing: Thing } | { readonly text: string } | { readonly raw: string; readonly times?: number };

/** A request in words that a counterexample can be read and repeated in; ids are known only when it is sent. */
export type Draft = {
  readonly method: string;
  readonly twist: keyof typeof TWISTS;
  readonly credential: CredentialName;
  readonly scheme: keyof typeof SCHEMES;
  readonly path: Readonly<Record<string, Param>>;
  readonly query: readonly (readonly [name: string, value: Param])[];
  readonly headers: readonly (readonly [name: string, value: string | { readonly long: number }])[];
  readonly body?: { readonly type: string; readonly json: Json; readonly encoding: Encoding } | undefined;
};

const rarely = <Usual, Rare>(often: Usual, rare: fc.Arbitrary<Rare>, weight = 12): fc.Arbitrary<Usual | Rare> =>
  fc.oneof({ weight, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: rare });

/** What may become of a path. */
const TWISTS = {
  none: (path: string) => path,
  slash: (path: string) => `${path}/`,
  slashes: (path: string) => `${path}//`,
  doubled: (path: string) => path.replace('/v1/', '/v1//'),
  upper: (path: string) => path.toUpperCase(),
  dots: (path: string) => `${path}/../../me`,
  encodedDots: (path: string) => `${path}/%2e%2e/me`,
  encodedSlash: (path: string) => path.replace('/v1/', '/v1%2f'),
  semicolon: (path: string) => `${path};x=1`,
  nul: (path: string) => `${path}%00`,
  backslash: (path: string) => path.replace('/v1/', '/v1\\'),
  fragment: (path: string) => `${path}#x`,
  deeper: (path: string) => path + '/x'.repeat(500),
  absolute: (path: string) => `http://elsewhere.example${path}`,
} as const;

/** How a credential is written. The first few are right. */
const SCHEMES = {
  bearer: (secret: string) => [`Bearer ${secret}`],
  lower: (secret: string) => [`bearer ${secret}`],
  upper: (secret: string) => [`BEARER ${secret}`],
  basic: (secret: string) => [`Basic ${Buffer.from(`${secret}:`).toString('base64')}`],
  dpop: (secret: string) => [`DPoP ${secret}`],
  bare: (secret: string) => [secret],
  glued: (secret: string) => [`Bearer${secret}`],
  quoted: (secret: string) => [`Bearer "${secret}"`],
  twice: (secret: string) => [`Bearer ${secret}`, `Bearer ${secret}`],
  list: (secret: string) => [`Bearer ${secret}, Bearer ${secret}`],
  more: (secret: string) => [`Bearer ${secret} x`],
  cut: (secret: string) => [`Bearer ${secret.slice(0, -3)}`],
  long: (secret: string) => [`Bearer ${secret}${'x'.repeat(2000)}`],
  latin: () => ['Bearer \u00e9\u00ff'],
  empty: () => ['Bearer '],
} as const;
const RIGHT_SCHEMES: readonly string[] = ['bearer', 'lower', 'upper'];

const STRANGE_TEXTS =
  '% %zz %00 a%00b %2e%2e .. . %2F %2f..%2f %ed%a0%80 %c0%af %ff %25 %u0041 \' " \\ ; + * {teamId} null undefined __proto__ -1 0';
const STRANGE: readonly Param[] = [
  ...STRANGE_TEXTS.split(' ').map((raw) => ({ raw })),
  ...[255, 256, 3000].map((times) => ({ raw: 'a', times })),
  ...[255, 256].flatMap((times) => ['%41', '%f0%9f%9a%80'].map((raw) => ({ raw, times }))),
];

const paramsOf = (name: string): fc.Arbitrary<Param> => {
  const things: readonly Thing[] = name in THINGS ? THINGS[name as keyof typeof THINGS] : []; // just checked
  const [first = 'team', ...others] = things;
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant({ thing: first }) },
    { weight: 5, arbitrary: fc.constantFrom<Param>(...others.map((thing) => ({ thing })), { thing: first }) },
    { weight: 2, arbitrary: fc.constantFrom(...STRANGE) },
    { weight: 2, arbitrary: texts(1, 255).map((text) => ({ text })) },
  );
};

const credentials = fc.oneof(
  { weight: 14, arbitrary: fc.constant<CredentialName>('owner') },
  { weight: 12, arbitrary: fc.constantFrom(...CREDENTIALS) },
);

const HEADERS: Draft['headers'] = [
  ['accept', 'application/json'],
  ['accept', 'text/html'],
  ['accept', '*/*;q=0'],
  ['accept', ',;=,"'],
  ['accept-encoding', 'br;q=0, gzip;q=0.0'], // long lists stay readable
  ['accept-encoding', 'identity;q=0, *;q=0'],
  ['accept-encoding', { long: 2000 }],
  ['accept-language', '-,;q=nonsense'],
  ['cookie', 'roster_session=x; __Host-roster_session=y; ;;=='],
  ['cookie', 'a=%%%%; =; a; %00=%00'],
  ['x-request-id', 'a.valid-one_1'],
  ['x-request-id', 'not valid'],
  ['x-request-id', { long: 129 }],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '::1, nonsense, 999.1.1.1'],
  ['x-forwarded-host', 'elsewhere.example'],
  ['forwarded', 'for="[::1]:x";;host=,'],
  ['origin', 'null'],
  ['origin', 'https://elsewhere.example'],
  ['if-none-match', '*'],
  ['if-modified-since', 'nonsense'],
  ['range', 'bytes=0-0, 5-'],
  ['expect', 'nonsense'],
  ['dpop', 'a.b.c'],
  ['te', 'trailers'],
  ['upgrade', 'h2c'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'identity'],
  ['transfer-encoding', 'chunked'],
  ['x-long', { long: 3000 }],
  ['\u0074oString', 'x'],
  ['__proto__', 'x'],
  ['user-agent', '\u00ff()<script>'],
];

const TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json; charset=latin1',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  '',
  '/',
];

/** All requests there are for an operation, most of them nearly right. */
export function draftsOf(operation: Described, { resolve }: Description): fc.Arbitrary<Draft> {
  const valid =
    operation.body &&
    valuesOf(operation.body, resolve, {
      teamId: fc.constantFrom('{team}', '{guestTeam}', '{foreignTeam}', '{newTeam}'),
      roleId: fc.constantFrom('member', 'guest', 'owner', '{role}', '{foreignRole}'),
    });
  const bodies = (json: fc.Arbitrary<Json>) =>
    fc.record({ type: rarely('application/json', fc.constantFrom(...TYPES), 14), json, encoding: encodings });
  return fc.record({
    method: rarely(
      operation.method,
      fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'PUT', 'TRACE', 'DELETE', 'PATCH', 'PROPFIND'),
      24,
    ),
    twist: rarely('none', fc.constantFrom(...(Object.keys(TWISTS) as (keyof typeof TWISTS)[])), 24), // Object.keys widens them
    credential: credentials,
    scheme: rarely('bearer', fc.constantFrom(...(Object.keys(SCHEMES) as (keyof typeof SCHEMES)[])), 14), // Object.keys widens them
    path: fc.record(Object.fromEntries(operation.pathParams.map((name) => [name, paramsOf(name)]))),
    query:
      operation.queryParams.length === 0
        ? rarely([], fc.constant<Draft['query']>([['teamId', { raw: '%zz' }]]))
        : fc.array(
            fc.tuple(
              rarely('teamId', fc.constantFrom('teamid', '__proto__', 'limit', '%74eamId', '')),
              paramsOf('teamId'),
            ),
            { maxLength: 2 },
          ),
    headers: rarely([], fc.array(fc.constantFrom(...HEADERS), { minLength: 1, maxLength: 3 }), 3),
    body:
      valid === undefined
        ? rarely(undefined, bodies(fc.constant<Json>({ members: [['name', 'x']] })))
        : fc.oneof(
            { weight: 24, arbitrary: bodies(bodiesOf(valid)) },
            { weight: 1, arbitrary: fc.constant(undefined) },
          ),
  });
}

export type Written = Sent & {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly named: readonly Thing[];
};

/** The request as it is sent, with the ids of the moment. */
export function written(operation: Described, draft: Draft, { idOf, credentials: known }: World): Written {
  const named: Thing[] = [];
  const textOf = (param: Param): string => {
    if ('raw' in param) return param.raw.repeat(param.times ?? 1);
    if ('text' in param) return encodeURIComponent(param.text);
    named.push(param.thing);
    return idOf(param.thing);
  };
  const plain = operation.template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    textOf(draft.path[name] ?? { raw: '' }),
  );
  const query = draft.query.map(([name, value]) => `${name}=${textOf(value)}`).join('&');
  const path = TWISTS[draft.twist](plain) + (query === '' ? '' : `?${query}`);

  const headers = new Map<string, string | string[]>(
    draft.headers.map(([name, value]) => [name, typeof value === 'string' ? value : 'x'.repeat(value.long)]),
  );
  const { secret } = known[draft.credential];
  if (secret !== null) headers.set('authorization', SCHEMES[draft.scheme](secret));
  if (draft.body !== undefined && draft.body.type !== '') headers.set('content-type', draft.body.type);
  const sent = { method: draft.method, path, headers: Object.fromEntries(headers), named };
  if (draft.body === undefined) return sent;

  const { json, encoding } = draft.body;
  return { ...sent, body: ENCODINGS[encoding](withIds(write(json), idOf)) };
}

/** What stands in braces as the id that it names. */
export const withIds = (text: string, idOf: World['idOf']): string =>
  text.replaceAll(/"\{(\w+)\}"/g, (whole, name: string) => (isThing(name) ? JSON.stringify(idOf(name)) : whole));

const isThing = (name: string): name is Thing =>
  Object.values(THINGS).some((names) => names.some((one) => one === name));

/** Whether the credential is written as one has to be. */
export const isWellWritten = ({ scheme }: Draft): boolean => RIGHT_SCHEMES.includes(scheme);
