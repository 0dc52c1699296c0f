import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { ALL_SCOPES, OPERATIONS } from './operations.ts';

const KIB = 1024;
const LIMIT = 100 * KIB;
const CHUNKED = { 'transfer-encoding': 'chunked' };

/** Sends text or bytes where a team's name is expected, as the team's owner. */
async function aRename(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner, name: 'Before' });
  const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
  const path = `/api/v1/teams/${team.id}`;
  return {
    path,
    caller: api.as(key),
    rename: (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
      api.as(key).send({ method: 'PATCH', path, headers, body }),
    nameNow: async () => (await api.as(key).get(path)).body.name as string,
  };
}

const typed = (type: string, more = {}) => ({ 'content-type': type, ...more });
const json = (more = {}) => typed('application/json', more);

/** A valid body of exactly so many bytes. */
const ofBytes = (bytes: number) => `{"name":"After","padding":"${'x'.repeat(bytes - 29)}"}`;

describe('the content type', () => {
  test.for([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ; charset=utf8',
    'Application/JSON; Charset=UTF-8',
    'application/json; version=1',
    'application/json;',
  ])('%s is JSON', async (type, { api }) => {
    const { rename } = await aRename(api);

    expect((await rename('{"name":"Après 🚀"}', typed(type))).body).toMatchObject({ name: 'Après 🚀' });
  });

  test.for([
    'text/json',
    'text/plain',
    'application/jsonp',
    'application/json5',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json;charset="iso-8859-1"',
    'application/json, text/plain',
    'x application/json',
    'json',
    '*/*',
  ])('%s is refused with 415', async (type, { api }) => {
    const { rename, nameNow } = await aRename(api);

    expect(await rename('{"name":"After"}', typed(type))).toBeProblem('unsupported_media_type');
    expect(await nameNow()).toBe('Before');
  });

  test('a body without one is rejected with 415', async ({ api }) => {
    const { rename } = await aRename(api);

    expect(await rename('{"name":"After"}', {})).toBeProblem('unsupported_media_type');
  });
});

describe('the content coding', () => {
  test.for(['gzip', 'GZIP', 'deflate', 'br', 'gzip, identity', 'nonsense'])(
    '%s is refused with 415',
    async (coding, { api }) => {
      const { rename, nameNow } = await aRename(api);

      expect(await rename(gzipSync('{"name":"After"}'), json({ 'content-encoding': coding }))).toBeProblem(
        'unsupported_media_type',
      );
      expect(await nameNow()).toBe('Before');
    },
  );

  test.for(['identity', 'Identity'])('%s is none', async (coding, { api }) => {
    const { rename } = await aRename(api);

    expect((await rename('{"name":"After"}', json({ 'content-encoding': coding }))).status).toBe(200);
  });
});

describe('the text', () => {
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string))); // either is what Buffer.from takes

  test.for([
    ['cut off', '{"name":"After"'],
    ['blank', ' \r\n\t'],
    ['a word', 'name=After'],
    ['a trailing comma', '{"name":"After",}'],
    ['a comment', '{"name":"After"} // x'],
    ['two values', '{"name":"After"}{}'],
    ['single quotes', "{'name':'After'}"],
    ['NaN', '{"name":"After","x":NaN}'],
    ['a raw line end', '{"name":"Af\nter"}'],
    ['a raw NUL', '{"name":"Af\u0000ter"}'],
    ['two byte order marks', '\ufeff\ufeff{"name":"After"}'],
    ['40 KB of open brackets', '['.repeat(40_000)],
    ['Latin-1', bytes('{"name":"Apr', [0xe8], 's"}')],
    ['a surrogate in UTF-8', bytes('{"name":"', [0xed, 0xa0, 0x80], '"}')],
    ['an overlong slash', bytes('{"name":"', [0xc0, 0xaf], '"}')],
    ['a cut sequence', bytes('{"name":"', [0xf0, 0x9d, 0x92], '"}')],
    ['UTF-16', Buffer.from('{"name":"After"}', 'utf16le')],
  ] as const)('%s is malformed', async ([, body], { api }) => {
    const { rename, nameNow } = await aRename(api);

    expect(await rename(body)).toBeProblem('malformed_json');
    expect(await rename(body, json(CHUNKED))).toBeProblem('malformed_json');
    expect(await nameNow()).toBe('Before');
  });

  test.for(['[]', '[{"name":"After"}]', 'null', '"After"', '7', 'true', `${'['.repeat(20_000)}${']'.repeat(20_000)}`])(
    '%.20s is no object',
    async (body, { api }) => {
      const { rename, nameNow } = await aRename(api);

      const answer = await rename(body);

      expect(answer).toBeProblem('validation_failed');
      expect(answer.body.errors).toEqual([
        { in: 'body', pointer: '', code: 'invalid_type', params: { expected: 'object' } },
      ]);
      expect(await nameNow()).toBe('Before');
    },
  );

  test('where none is sent, it is missing, whatever its type would have been', async ({ api }) => {
    const { path, caller } = await aRename(api);
    const nothing: { headers?: Record<string, string>; body?: string }[] = [
      {},
      { headers: json() },
      { headers: json(), body: '' },
      { headers: json(CHUNKED), body: '' },
      { headers: typed('text/plain') },
    ];

    const answers = await Promise.all(nothing.map((sent) => caller.send({ method: 'PATCH', path, ...sent })));

    for (const answer of answers) {
      expect(answer).toBeProblem('validation_failed');
      expect(answer.body.errors).toEqual([{ in: 'body', pointer: '', code: 'required' }]);
    }
  });

  // RFC 8259, section 8.1, allows to ignore it, and some editors write one.
  test('a byte order mark before it is ignored', async ({ api }) => {
    const { rename } = await aRename(api);

    expect((await rename('\ufeff{"name":"After"}')).body).toMatchObject({ name: 'After' });
  });

  test('white space around it is ignored', async ({ api }) => {
    const { rename } = await aRename(api);

    expect((await rename('\r\n\t {"name":"After"}\n')).status).toBe(200);
  });
});

describe('the members', () => {
  const accepted = (body: string) => ({ body, name: 'After' });

  test.for([
    accepted('{"name":"After","slug":"x","id":7,"role":{"id":"owner"},"":null}'),
    accepted('{"name":"After","__proto__":{"name":"Polluted","isAdmin":true}}'),
    accepted('{"name":"After","constructor":{"prototype":{"isAdmin":true}},"toString":7,"hasOwnProperty":7}'),
    accepted('{"name":"Earlier","name":"After"}'),
    accepted('{"name":7,"name":"After"}'),
    accepted('{"\\u006eame":"After"}'),
    accepted('{"name":"After","teamId":"team_other","keyId":7}'),
    accepted('{"name":"After","access_token":"x","_method":"DELETE"}'),
    accepted(`{"name":"After","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
    accepted(`{"name":"After","deep":${'{"a":'.repeat(8000)}1${'}'.repeat(8000)}}`),
    accepted('{"name":"After","lone":"\\ud800","nul":"\\u0000","huge":1e999}'),
  ])(
    '$body.20: what is not asked for is ignored, and of duplicates the last counts',
    async ({ body, name }, { api }) => {
      const { rename, nameNow } = await aRename(api);

      expect((await rename(body)).status).toBe(200);
      expect(await nameNow()).toBe(name);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect({}).not.toHaveProperty('isAdmin');
    },
  );

  test.for([
    '{"__proto__":{"name":"After"}}',
    '{"constructor":{"name":"After"}}',
    '{"NAME":"After"}',
    '{"name ":"After"}',
    '{"/name":"After"}',
    '{"body":{"name":"After"}}',
  ])('%s has no name', async (body, { api }) => {
    const { rename, nameNow } = await aRename(api);

    expect((await rename(body)).body.errors).toEqual([{ in: 'body', pointer: '/name', code: 'required' }]);
    expect(await nameNow()).toBe('Before');
  });

  test('a body member cannot redirect a request to what another path names', async ({ api }) => {
    const { rename, path } = await aRename(api);
    const owner = await api.anAccount();
    const other = await api.aTeam({ owner, name: 'Other' });

    const answer = await rename(JSON.stringify({ name: 'After', teamId: other.id, id: other.id }));

    expect(answer.body.id).toBe(path.split('/').at(-1));
    expect(await api.rows('select name from team where id = $1', [other.id])).toEqual([{ name: 'Other' }]);
  });
});

describe('the size', () => {
  test.for([
    ['with its length', {}],
    ['chunked', CHUNKED],
  ] as const)('100 KiB and no byte more, %s', async ([, transfer], { api }) => {
    const { rename, nameNow } = await aRename(api);

    expect(await rename(ofBytes(LIMIT + 1), json(transfer))).toBeProblem('body_too_large');
    expect(await rename(ofBytes(101 * KIB), json(transfer))).toBeProblem('body_too_large');
    expect(await rename(Buffer.alloc(5 * LIMIT, 'x'), json(transfer))).toBeProblem('body_too_large');
    expect(await nameNow()).toBe('Before');
    expect((await rename(ofBytes(LIMIT), json(transfer))).status).toBe(200);
  });

  test('counts bytes and not characters', async ({ api }) => {
    const { rename } = await aRename(api);

    expect(await rename(`{"name":"${'🚀'.repeat(LIMIT / 4)}"}`)).toBeProblem('body_too_large');
  });
});

test.for(OPERATIONS.filter(({ body }) => body === undefined))(
  '$id takes no body, and one that is sent is not read',
  async ({ id, method, path }, { api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const [invitation, other, target] = await Promise.all([
      api.anInvitation(team),
      api.anApiKey(account),
      api.anAccount(),
    ]);
    await api.aMember(team, target);
    const key = await api.anApiKey(account, { scopes: ALL_SCOPES });
    const ids: Record<string, string> = {
      teamId: team.id,
      userId: target.id,
      keyId: other.id,
      invitationId: invitation.id,
    };
    const where = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');

    const answer = await api.as(key).send({ method, path: where, headers: typed('text/plain'), body: '{{{' });

    expect([id, answer.status]).toEqual([id, 200]);
  },
);
