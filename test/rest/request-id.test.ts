import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';

describe('X-Request-Id', () => {
  const path = '/api/v1/credential';
  const idFor = async (api: Api, sent: string | string[], on = path) => {
    const { headers } = await api.anonymous.send({ method: 'GET', path: on, headers: { 'x-request-id': sent } });
    return headers['x-request-id'];
  };

  test.for(['a', '0', 'AZaz09._-', 'x'.repeat(128), '..'])('%.20s is taken over', async (id, { api }) => {
    expect(await idFor(api, id)).toBe(id);
    expect(await idFor(api, id, '/api/v1/nothing')).toBe(id);
    expect(await idFor(api, id, '/nothing')).toBe(id);
  });

  test.for(['', 'x'.repeat(129), 'a b', 'a/b', 'a,b', 'a:b', '{}', '\u00e9', '<b>', '"', 'a%0d%0ab', ['a', 'b']])(
    '%.20s is not',
    async (id, { api }) => {
      const fresh = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

      expect(await idFor(api, id)).toMatch(fresh);
      expect(await idFor(api, id, '/nothing')).toMatch(fresh);
    },
  );

  // Guarantees that a secret in the wrong header gets into no log.
  test('an id that holds a secret is not', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());

    expect(await idFor(api, secret)).not.toContain(secret);
    expect(await idFor(api, `a.${secret}-b`, '/nothing')).not.toContain(secret);
  });

  test('every request has one of its own', async ({ api }) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.anonymous.get(path)));

    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});
