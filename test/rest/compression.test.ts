import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { test as base, type Api } from '../support/api.ts';

type Long = { readonly path: string; readonly secret: string | undefined };

const test = base.extend<{ list: Long }>({
  list: [
    async ({ api }, use) => {
      const owner = await api.anAccount();
      const team = await api.aTeam({ owner });
      const ids = Array.from({ length: 100 }, () => newId('acc'));
      await api.rows(
        `insert into account (id, email, role, created_at, updated_at)
         select id, id || '@example.com', 'user', now(), now() from unnest($1::text[]) as id`,
        [ids],
      );
      await api.rows(
        `insert into membership (id, team_id, account_id, role_id, is_active, joined_at, created_at)
         select 'mem_' || id, $2, id, 'guest', true, now(), now() from unnest($1::text[]) as id`,
        [ids, team.id],
      );
      const { secret } = await api.anApiKey(owner, { scopes: ['members:read', 'teams:read'] });
      await use({ path: `/api/v1/teams/${team.id}/members`, secret });
    },
    { scope: 'file' },
  ],
});

/** The answer as it came over the wire. */
function fetchRaw(
  api: Api,
  { path, secret }: Long,
  encoding: string | undefined,
  method = 'GET',
  more: Record<string, string> = {},
) {
  const headers = {
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
    ...more,
  };
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port: api.port, path, method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ headers: res.headers, body: Buffer.concat(chunks) }));
    });
    req.on('error', reject);
    req.end();
  });
}

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync } as const;

describe('a long answer', () => {
  test.for([
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
  ] as const)('is compressed for a client that accepts %s', async ([accepted, coding], { api, list }) => {
    const plain = await fetchRaw(api, list, undefined);
    const { headers, body } = await fetchRaw(api, list, accepted);

    expect(headers).toMatchObject({
      'content-encoding': coding,
      vary: 'Accept-Encoding',
      'content-length': String(body.length),
    });
    expect(body.length).toBeLessThan(plain.body.length / 3);
    expect(DECODERS[coding](body).equals(plain.body)).toBe(true);
  });

  test.for([undefined, 'identity', 'deflate', 'br;q=0, gzip;q=0.0', 'x-gzip', 'identity, br;q=0.1', '*;q=0'])(
    'is as it is for one that accepts %s',
    async (accepted, { api, list }) => {
      const { headers, body } = await fetchRaw(api, list, accepted);

      expect(headers['content-encoding']).toBeUndefined();
      expect(headers['vary']).toBe('Accept-Encoding');
      expect(JSON.parse(body.toString())).toHaveLength(101);
    },
  );

  // Guarantees that a header of 16 KB costs what a short one does: parsing it took 4 ms.
  test('is as it is for one that names a thousand codings first', async ({ api, list }) => {
    const { headers, body } = await fetchRaw(api, list, `${'a,'.repeat(1000)}br`);

    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(body.toString())).toHaveLength(101);
  });

  test('has the same headers for HEAD', async ({ api, list }) => {
    const [{ headers }, get] = [await fetchRaw(api, list, 'br', 'HEAD'), await fetchRaw(api, list, 'br')];

    expect(headers).toMatchObject({ 'content-encoding': 'br', 'content-length': get.headers['content-length'] });
  });
});

test('a short answer is never compressed', async ({ api, list }) => {
  const { headers } = await fetchRaw(api, { ...list, path: '/api/v1/teams' }, 'br, gzip');

  expect(headers['content-encoding']).toBeUndefined();
  expect(headers['vary']).toBeUndefined();
});

describe('a JSON document', () => {
  const fetchDocument = (api: Api, path: string, headers: Record<string, string>) =>
    fetchRaw(api, { path, secret: undefined }, undefined, 'GET', headers);

  test.for(['/api/v1/openapi.json', '/operator/v1/openapi.json', '/docs/events.json'])(
    '%s is sent in each coding that a client accepts',
    async (path, { api }) => {
      const plain = await fetchDocument(api, path, {});
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.headers['vary']).toBe('Accept-Encoding');
      for (const coding of ['gzip', 'br'] as const) {
        const { headers, body } = await fetchDocument(api, path, { 'accept-encoding': coding });
        expect(headers).toMatchObject({
          'content-encoding': coding,
          'content-type': plain.headers['content-type'],
          'content-length': String(body.length),
          vary: 'Accept-Encoding',
        });
        expect(body.length).toBeLessThan(plain.body.length / 3);
        expect(DECODERS[coding](body).equals(plain.body)).toBe(true);
      }
    },
  );

  // RFC 9110, section 8.8.3.3: caches must not mistake one coding for another.
  test('has a strong ETag of its own in each coding, with which it is revalidated', async ({ api }) => {
    const path = '/api/v1/openapi.json';
    const tags = new Set<string>();
    for (const accepted of ['identity', 'gzip', 'br']) {
      const first = await fetchDocument(api, path, { 'accept-encoding': accepted });
      const etag = String(first.headers['etag']);
      expect(etag).toMatch(/^"[\w-]+"$/);
      tags.add(etag);
      const again = await fetchDocument(api, path, { 'accept-encoding': accepted, 'if-none-match': etag });
      expect(again.body).toHaveLength(0);
      expect(again.headers).toMatchObject({ etag, vary: 'Accept-Encoding' });
    }
    expect(tags.size).toBe(3);
  });
});
