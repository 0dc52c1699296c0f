import fc from 'fast-check';

/**
 * JSON as it is written and not as it is understood: members repeat, numbers are out of range.
 * What is long or deep is told by its size, so that a counterexample stays readable.
 */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly members: readonly (readonly [name: string, value: Json])[] }
  | { readonly raw: string }
  | { readonly long: number }
  | { readonly deep: number; readonly open: '[' | '{"a":' };

export function write(json: Json): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if ('raw' in json) return json.raw;
  if ('long' in json) return `"${'x'.repeat(json.long)}"`;
  if ('deep' in json) return json.open.repeat(json.deep) + '0' + (json.open === '[' ? ']' : '}').repeat(json.deep);
  if ('members' in json) {
    return `{${json.members.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join()}}`;
  }
  return `[${json.map(write).join()}]`;
}

/** The part of JSON Schema that the document uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean | null;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** Looks into the schemas that the document names. */
export type Resolve = (schema: Schema) => Schema;

/** Values that a schema allows. @param known better values than random ones for some members */
export function valuesOf(schema: Schema, resolve: Resolve, known: Known): fc.Arbitrary<Json> {
  const {
    type,
    const: only,
    enum: values,
    anyOf,
    properties = {},
    required = [],
    items = {},
    ...bounds
  } = resolve(schema);
  if (only !== undefined) return fc.constant(only);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valuesOf(one, resolve, known)));
  if (type === 'null') return fc.constant(null);
  if (values !== undefined) return fc.constantFrom(...values);
  if (type === 'object') {
    const members = Object.entries(properties).map(([name, member]) => {
      const value = valuesOf(member, resolve, known);
      const better = known[name];
      const any = better === undefined ? value : fc.oneof({ weight: 3, arbitrary: better }, value);
      const entry = any.map((given) => [[name, given] as const]);
      return required.includes(name) ? entry : fc.oneof(entry, fc.constant([]));
    });
    return fc.tuple(...members).map((entries) => ({ members: entries.flat() }));
  }
  if (type === 'array') {
    return fc.array(valuesOf(items, resolve, known), {
      minLength: bounds.minItems ?? 0,
      maxLength: bounds.maxItems ?? 10,
    });
  }
  if (type === 'integer') return fc.integer({ min: bounds.minimum ?? -1000, max: bounds.maximum ?? 1000 });
  if (type === 'boolean') return fc.boolean();
  return bounds.format === 'email' ? addresses : texts(bounds.minLength ?? 0, bounds.maxLength ?? 1000);
}

/** Values for members by name. */
export type Known = Readonly<Record<string, fc.Arbitrary<Json>>>;

/** Texts by code points, as lengths are counted. */
export const texts = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength, maxLength }) },
    { weight: 2, arbitrary: fc.string({ minLength, maxLength, unit: 'binary' }) },
    { weight: 1, arbitrary: fc.string({ minLength, maxLength, unit: 'binary', size: 'max' }) },
    { weight: 1, arbitrary: fc.constantFrom(minLength, maxLength).map((length) => '🚀'.repeat(length)) },
  );

const addresses = fc.oneof(
  fc.nat().map((n) => `ada+${n}@example.com`),
  fc.constantFrom('Ada@Example.COM', "o'hara@example.co.uk", `${'a'.repeat(243)}@example.com`),
);

/** What somebody sends who wants to see a service fall. */
const hostile: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    '',
    ' ',
    'true',
    '30',
    'null',
    '[object Object]',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udc00\ud800',
    '\ufffe\uffff',
    '__proto__',
    "' or 1=1 --",
    '${7*7}{{7*7}}',
    '../../etc/passwd',
    '\r\nX-Injected: 1',
    '<script>alert(1)</script>',
    'ada@example.com\r\nBcc: eve@example.com',
    0,
    -1,
    0.5,
    2 ** 31,
    2 ** 53,
    Number.MAX_VALUE,
    { raw: '-0' },
    { raw: '1e400' },
    { raw: '-1e400' },
    { raw: '1E-400' },
    { raw: '1.0' },
    { raw: '9'.repeat(400) },
    { raw: '"\\ud83d"' },
    { raw: '"\\u0000"' },
    { raw: 'NaN' },
    { raw: '01' },
    { raw: "'x'" },
    { raw: '"\u0007"' },
    { members: [] },
    [],
    [null],
    [['x']],
    { members: [['length', 1]] },
    { members: [['toString', 1]] },
    { members: [['__proto__', { members: [['isAdmin', true]] }]] },
    { long: 101 },
    { long: 256 },
    { long: 1001 },
    { long: 70_000 },
    { deep: 10_000, open: '[' },
    { deep: 10_000, open: '{"a":' },
  ),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ raw: JSON.stringify(value) })),
  fc.string({ unit: 'binary' }),
  fc.double().map((number) => ({ raw: String(number) })),
);

const STRANGE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  '',
  'id',
  'accountId',
  'userId',
  'teamId',
  'keyId',
  'role',
  'isAdmin',
  '\u0000',
  '$where',
];

type Change = (members: (readonly [string, Json])[]) => Json;

const at = (place: number, length: number): number => (length === 0 ? 0 : place % length);

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.nat(20), hostile).map(([place, value]): Change => {
    return (members) => ({
      members: members.map(([name, old], i) => [name, i === at(place, members.length) ? value : old] as const),
    });
  }),
  fc.tuple(fc.nat(20), hostile).map(([place, value]): Change => {
    return (members) => ({
      members: members.map(([name, old], i) =>
        i === at(place, members.length) && Array.isArray(old) ? [name, [...old, value]] : [name, old],
      ),
    });
  }),
  fc.nat(20).map((place): Change => {
    return (members) => ({ members: members.filter((_, i) => i !== at(place, members.length)) });
  }),
  fc.tuple(fc.nat(20), hostile, fc.boolean()).map(([place, value, first]): Change => {
    return (members) => {
      const [name] = members[at(place, members.length)] ?? ['name'];
      return { members: first ? [[name, value], ...members] : [...members, [name, value]] };
    };
  }),
  fc.tuple(fc.oneof(fc.constantFrom(...STRANGE_NAMES), fc.string()), hostile).map(([name, value]): Change => {
    return (members) => ({ members: [...members, [name, value]] });
  }),
  hostile.map(
    (value): Change =>
      () =>
        value,
  ),
  fc.constant<Change>((members) => [{ members }]),
);

/** The same with some things changed in it, most of which break it. */
export const changed = (json: Json, times: readonly Change[]): Json =>
  times.reduce<Json>(
    (now, change) => (typeof now === 'object' && now !== null && 'members' in now ? change([...now.members]) : now),
    json,
  );

/** Bodies of an operation: half of them valid. */
export const bodiesOf = (valid: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: valid },
    {
      weight: 4,
      arbitrary: fc
        .tuple(valid, fc.array(changes, { minLength: 1, maxLength: 3 }))
        .map(([json, times]) => changed(json, times)),
    },
    { weight: 1, arbitrary: hostile },
  );
