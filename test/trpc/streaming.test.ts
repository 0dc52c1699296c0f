import { describe, expect } from 'vitest';
import { startApi, test } from '../support/api.ts';
import { PASSWORD, aPerson } from './people.ts';

const SAME_ORIGIN = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' };

describe.each([
  ['trpc-accept', { 'trpc-accept': 'application/jsonl' }],
  ['accept', { accept: 'text/plain, application/jsonl' }],
])('a client that asks for a stream by %s', (_case, stream) => {
  const headers = { ...SAME_ORIGIN, ...stream, 'content-type': 'application/json' };

  test('signs in with one answer, which sets the cookie', async ({ api }) => {
    const { email } = await aPerson(api);
    const before = await api.rows('select id from session');
    const {
      status,
      headers: answered,
      body,
    } = await api.anonymous.send({
      method: 'POST',
      path: '/trpc/auth.signIn?batch=1',
      headers,
      body: JSON.stringify({ 0: { email, password: PASSWORD } }),
    });

    expect([status, answered['content-type']]).toEqual([200, 'application/json']);
    expect(body[0].result.data).toBeDefined();
    expect(String(answered['set-cookie'])).toContain('roster_session_3000=');
    expect(await api.rows('select id from session')).toHaveLength(before.length + 1);
  });

  test('gets a clean 429 when the rate limit is exceeded, without an error in the log', async () => {
    const api = await startApi({ RATE_LIMIT: '1' });
    const send = () =>
      api.anonymous.send({ method: 'GET', path: '/trpc/listTeams,getMe?batch=1&input=%7B%7D', headers });
    const answer = await send();

    expect(answer.status).toBe(429);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['retry-after']).toBeDefined();
    expect(answer.body[0].error.data.problem.code).toBe('rate_limited');
    expect(api.lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
    await api.close();
  });
});
