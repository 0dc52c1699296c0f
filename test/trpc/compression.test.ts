import { request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { signedIn } from '../support/browser.ts';
import { test, type Api } from '../support/api.ts';

async function aCrowd(api: Api) {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  await api.rows(
    `with made as (
       insert into account (id, email, role, created_at, updated_at)
       select $1 || '-' || n, n || '.' || $1 || '@example.com', 'user', now(), now() from generate_series(1, 200) n
       returning id
     )
     insert into membership (id, team_id, account_id, role_id, is_active, joined_at, created_at)
     select 'mem_' || id, $2, id, 'guest', true, now(), now() from made`,
    [owner.id, team.id],
  );
  return { owner, team };
}

async function fetchRaw(api: Api, account: { id: string }, path: string, body?: object) {
  const { cookies, headers } = await signedIn(api, account);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const req = request(
      {
        host: '127.0.0.1',
        port: api.port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, cookie, 'accept-encoding': 'br', ...(body && { 'content-type': 'application/json' }) },
      },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => resolve({ headers: res.headers, body: Buffer.concat(chunks) }));
      },
    );
    req.on('error', reject);
    req.end(body && JSON.stringify(body));
  });
}

describe('what a query returns over tRPC', () => {
  test('is compressed if it is long, also within a batch', async ({ api }) => {
    const { owner, team } = await aCrowd(api);
    const input = encodeURIComponent(JSON.stringify({ 0: { teamId: team.id }, 1: { teamId: team.id } }));
    const { headers, body } = await fetchRaw(api, owner, `/trpc/members.list,getTeam?batch=1&input=${input}`);
    expect(headers['content-encoding']).toBe('br');
    expect(headers['vary']).toMatch(/accept-encoding/i);
    const [members, { result }] = JSON.parse(brotliDecompressSync(body).toString()) as {
      result: { data: unknown };
    }[] as [{ result: { data: unknown[] } }, { result: { data: { id: string } } }];
    expect(members.result.data).toHaveLength(201);
    expect(result.data.id).toBe(team.id);
  });

  test('is not compressed if it is short', async ({ api }) => {
    const { headers, body } = await fetchRaw(api, await api.anAccount(), '/trpc/listTeams');
    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(body.toString())).toEqual({ result: { data: [] } });
  });
});

// The length of a compressed secret reveals something about it to a caller who chooses what stands beside it.
test('what a mutation returns over tRPC is never compressed', async ({ api }) => {
  const owner = await api.anAccount();
  const { headers, body } = await fetchRaw(api, owner, '/trpc/createTeam', {
    name: 'Analytical Engine',
    description: 'x'.repeat(1000),
  });
  expect(headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(body.toString())).toMatchObject({ result: { data: { name: 'Analytical Engine' } } });
});
