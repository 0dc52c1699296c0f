import { describe, expect, test as plain } from 'vitest';
import { createRoster } from '../../clients/typescript/src/index.ts';
import { test } from '../support/api.ts';

describe('repetition', () => {
  /** A client of a server that gives these answers, one after the other, and how often it was called. */
  function answering(...answers: (Response | Error)[]) {
    const calls: Request[] = [];
    const roster = createRoster({
      baseUrl: 'http://service.test',
      credential: () => `key-${calls.length}`,
      waitMsMax: 5000,
      fetch: async (url, init) => {
        calls.push(new Request(url, init));
        const answer = answers[calls.length - 1];
        if (answer instanceof Response) return answer;
        throw answer ?? new Error('no more answers');
      },
    });
    return { roster, calls };
  }
  const problem = (status: number, retryAfter = '0') =>
    Response.json({ code: 'rate_limited', status }, { status, headers: { 'retry-after': retryAfter } });

  plain('a rate limit is waited for, with the credential of the moment', async () => {
    const { roster, calls } = answering(problem(429), Response.json({ success: true }));
    expect(await roster.revokeApiKey({ keyId: 'k' })).toEqual({ success: true });
    expect(calls.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer key-0', 'Bearer key-1']);
  });

  const limited = (headers: Record<string, string>) =>
    Response.json({ code: 'rate_limited' }, { status: 429, headers });

  // Guarantees a wait of the right length also behind a proxy that removes or rewrites `Retry-After`.
  plain.for<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '60', ratelimit: '"default";r=0;t=70' }, 60],
    [{ 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3600],
    [{ 'retry-after': new Date(0).toUTCString() }, 0],
    [{ ratelimit: '"default";r=0;t=70', 'ratelimit-reset': '80' }, 70],
    [{ 'ratelimit-reset': '80' }, 80],
    [{ 'retry-after': 'soon', 'ratelimit-reset': '-1' }, undefined],
    [{}, undefined],
  ])('a rate limit with the headers %o is waited for %s s', async ([headers, seconds]) => {
    const { roster } = answering(limited(headers));
    const error = await roster.listTeams({}, { retries: 0 }).catch((reason: unknown) => reason);
    const { retryAfter } = error as { retryAfter?: number };
    if (seconds === undefined) expect(retryAfter).toBe(undefined);
    else expect(Math.abs((retryAfter ?? Number.NaN) - seconds)).toBeLessThan(60 * Math.sign(seconds) + 1);
    const tooLong = answering(limited(headers), Response.json([]));
    const outcome = await tooLong.roster.listTeams({}, { retries: 1 }).catch(() => 'too long');
    expect(outcome).toEqual(seconds !== undefined && seconds > 5 ? 'too long' : []);
  });

  plain('the state of the rate limit does not delay the repetition after a 503', async () => {
    const unavailable = Response.json(
      { code: 'service_unavailable' },
      { status: 503, headers: { 'ratelimit-reset': '60' } },
    );
    const { roster } = answering(unavailable, Response.json([]));
    expect(await roster.listTeams()).toEqual([]);
  });

  plain('an idempotency key that no header can carry is refused, and sent nowhere', async () => {
    const { roster, calls } = answering(Response.json({ id: 'team_1' }));
    for (const idempotencyKey of ['', 'заказ-7', 'commande-é', 'two\nlines', 'x'.repeat(256)])
      await expect(roster.createTeam({ name: 'x' }, { idempotencyKey })).rejects.toThrow('idempotencyKey has to be');
    expect(calls).toEqual([]);
    await roster.createTeam({ name: 'x' }, { idempotencyKey: '~'.repeat(255) });
    expect(calls).toHaveLength(1);
  });

  plain('a read is repeated after a 503 or a lost connection, and no more than twice', async () => {
    const { roster, calls } = answering(problem(503), new TypeError('connection lost'), Response.json([]));
    expect(await roster.listTeams()).toEqual([]);
    expect(calls).toHaveLength(3);
    const failing = answering(problem(503), problem(503), problem(503), Response.json([]));
    await expect(failing.roster.listTeams()).rejects.toMatchObject({ status: 503 });
    expect(failing.calls).toHaveLength(3);
  });

  // Guarantees that a change that may have happened is never made twice.
  plain('a POST is repeated with the same Idempotency-Key; another change is not repeated', async () => {
    for (const answer of [problem(503), new TypeError('connection lost')]) {
      const { roster, calls } = answering(answer, Response.json({ id: 'team_1' }));
      expect(await roster.createTeam({ name: 'x' })).toEqual({ id: 'team_1' });
      const [first, second] = calls.map(({ headers }) => headers.get('idempotency-key'));
      expect([first, second]).toEqual([expect.stringMatching(/^"[\w-]{36}"$/), first]);
    }
    for (const answer of [problem(503), new TypeError('connection lost')]) {
      const { roster, calls } = answering(answer, Response.json({}));
      await expect(roster.updateTeam({ teamId: 't', name: 'x' })).rejects.toBeInstanceOf(Error);
      expect(calls).toHaveLength(1);
    }
  });

  test('a call whose response was lost takes effect once', async ({ api }) => {
    const account = await api.anAccount();
    let lost = 2;
    const roster = createRoster({
      baseUrl: `http://127.0.0.1:${api.port}`,
      credential: (await api.anApiKey(account, { scopes: ['teams:read', 'teams:write'] })).secret,
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        if (lost-- > 0) throw new TypeError('connection lost');
        return answer;
      },
    });
    const team = await roster.createTeam({ name: 'Engines' });
    expect((await roster.listTeams()).map(({ id }) => id)).toEqual([team.id]);
    const options = { idempotencyKey: 'import "7" \\' };
    const [one, other] = [
      await roster.createTeam({ name: 'Mills' }, options),
      await roster.createTeam({ name: 'Mills' }, options),
    ];
    expect(other).toEqual(one);
  });

  plain('a wait that is too long is not begun, and one that is begun ends with its signal', async () => {
    const long = answering(problem(429, '60'), Response.json([]));
    await expect(long.roster.listTeams()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 60 });
    const controller = new AbortController();
    const waiting = answering(problem(429, '4'), Response.json([]));
    const call = waiting.roster.listTeams({}, { signal: controller.signal });
    controller.abort(new Error('page left'));
    await expect(call).rejects.toThrow('page left');
    expect(waiting.calls.length).toBeLessThan(2);
  });

  plain('a redirect is not followed with the credential', async () => {
    const { roster, calls } = answering(
      new Response('[]', { status: 307, headers: { location: 'http://other.test/api/v1/teams' } }),
    );
    await expect(roster.listTeams()).rejects.toMatchObject({ code: 'unknown_response', status: 307 });
    expect(calls.map(({ redirect }) => redirect)).toEqual(['manual']);
  });

  plain('an answer that is not of the service is an error with its status, also a page with 200', async () => {
    for (const status of [200, 418]) {
      const { roster } = answering(new Response('<html>', { status }));
      await expect(roster.listTeams()).rejects.toMatchObject({ code: 'unknown_response', status });
    }
  });

  plain('an answer that breaks off is read again, and one that never ends is given up', async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) });
    const { roster, calls } = answering(new Response(broken), Response.json([]));
    expect(await roster.listTeams()).toEqual([]);
    expect(calls).toHaveLength(2);

    const endless = createRoster({
      baseUrl: 'http://service.test',
      credential: 'x',
      timeoutMs: 1,
      retries: 1,
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
        }),
    });
    await expect(endless.listTeams()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  plain('an error of the credential ends the call at once', async () => {
    let asked = 0;
    const roster = createRoster({
      baseUrl: 'http://service.test',
      credential: () => {
        asked += 1;
        throw new Error('signed out');
      },
    });
    await expect(roster.listTeams()).rejects.toThrow('signed out');
    expect(asked).toBe(1);
  });
});
