import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/problems/catalogue.ts';
import { test, type Api } from '../support/api.ts';

type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
};

/** Sends bytes as they are and reads one answer, by its length. */
function exchange(api: Api, text: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.write(text, 'latin1'));
    let received = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`No whole answer: ${received}`)));
    socket.on('data', (chunk) => {
      received += chunk.toString();
      const answer = parse(received);
      if (answer === undefined) return;
      socket.removeAllListeners('close').destroy();
      resolve(answer);
    });
  });
}

/** The status lines that requests in a row get, of which the last one reads the credential. */
function statusesOf(api: Api, text: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (!received.includes('"audience"')) return;
      socket.destroy();
      resolve(received.match(/HTTP\/1\.1 \d+/g) ?? []);
    });
  });
}

/** The first line of what comes back until the end of the connection; empty where nothing does. */
function statusLineOf(api: Api, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.end(text));
    let received = '';
    socket.on('error', reject).on('data', (chunk) => (received += chunk.toString()));
    socket.on('close', () => resolve(received.split('\r\n')[0] ?? ''));
  });
}

function parse(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const body = text.slice(end + 4);
  if (Buffer.byteLength(body) < Number(headers['content-length'])) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, body: JSON.parse(body) as Record<string, unknown> };
}

function expectProblem({ status, headers, body }: RawAnswer, code: ProblemCode): void {
  const [expected, title] = PROBLEMS[code];
  expect([status, body['code']]).toEqual([expected, code]);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(body).toMatchObject({
    title,
    status: expected,
    requestId: headers['x-request-id'],
    detail: expect.any(String),
  });
  expect(headers['cache-control']).toBe('no-store');
}

const GET = 'GET /api/v1/credential HTTP/1.1';
const request = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

async function authorized(api: Api): Promise<string> {
  return `Authorization: Bearer ${(await api.anApiKey(await api.anAccount())).secret}`;
}

describe('the request target', () => {
  test.for(['http://localhost', 'http://elsewhere.example:8080', 'HTTPS://EXAMPLE.org', 'http://user@localhost'])(
    'in absolute form means its path: %s',
    async (origin, { api }) => {
      const answer = await exchange(
        api,
        request(`GET ${origin}/api/v1/credential?x=/y HTTP/1.1`, 'Host: localhost', await authorized(api)),
      );

      expect([answer.status, answer.body['kind']]).toEqual([200, 'api-key']);
    },
  );

  test.for([
    'http://localhost/nowhere',
    'http://localhost/nowhere?x=/api/v1/credential',
    'http://localhost/x?/api/v1/credential',
    'http://localhost/api/v1',
    '*',
  ])('of no path of ours is unknown: %s', async (target, { api }) => {
    const method = target === '*' ? 'OPTIONS' : 'GET';

    expectProblem(
      await exchange(api, request(`${method} ${target} HTTP/1.1`, 'Host: localhost', await authorized(api))),
      'route_not_found',
    );
  });
});

describe('the host', () => {
  test.for([
    ['none', []],
    ['two', ['Host: localhost', 'Host: localhost']],
    ['two in other letters', ['Host: localhost', 'HOST: elsewhere.example']],
  ] as const)('named %s times is 400, on every path', async ([, hosts], { api }) => {
    const credential = await authorized(api);

    for (const line of [
      GET,
      'GET /api/v1/nothing HTTP/1.1',
      'OPTIONS /api/v1/teams HTTP/1.1',
      'GET /nothing HTTP/1.1',
      'POST /trpc/getMe HTTP/1.1',
    ]) {
      const answer = await exchange(api, request(line, ...hosts, credential));
      expectProblem(answer, 'malformed_request');
      expect(answer.headers).toHaveProperty('ratelimit-limit');
    }
  });

  test('named once is enough, and HTTP/1.0 needs none', async ({ api }) => {
    const credential = await authorized(api);

    expect((await exchange(api, request(GET, 'hOsT: localhost', credential))).status).toBe(200);
    expect((await exchange(api, request('GET /api/v1/credential HTTP/1.0', credential))).status).toBe(200);
  });
});

describe('what is no HTTP gets a problem document and the end of the connection', () => {
  const Host = 'Host: localhost';

  test.for([
    ['a garbage line', request('hello')],
    ['binary', '\u0016\u0003\u0001\u0000\u0000'],
    ['a method in small letters', request('get /api/v1/credential HTTP/1.1', Host)],
    ['an unknown version', request('GET /api/v1/credential HTTP/9.9', Host)],
    ['a space in the path', request('GET /api/v1/teams/a b HTTP/1.1', Host)],
    ['a header without a colon', request(GET, Host, 'nonsense')],
    ['a space before a colon', request(GET, Host, 'Authorization : Bearer x')],
    ['a folded header', request(GET, Host, 'X-Long: a', ' b')],
    ['two lengths', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: 2', 'Content-Length: 3')],
    ['a negative length', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: -2')],
    [
      'a length and chunks',
      request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: 2', 'Transfer-Encoding: chunked'),
    ],
    ['line ends without CR', request(GET, Host).replaceAll('\r\n', '\n')],
    ['one line end without CR', request(GET, `${Host}\nX-Smuggled: 1`)],
    ['CR alone', request(GET, `${Host}\rX-Smuggled: 1`)],
    ['a NUL in a header', request(GET, Host, 'X-Nul: a\u0000b')],
    ['a NUL in the path', request('GET /api/v1/teams/\u0000 HTTP/1.1', Host)],
    ['a raw byte in the path', request('GET /api/v1/teams/\u00e9 HTTP/1.1', Host)],
    ['an empty header name', request(GET, Host, ': x')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a list of lengths', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: 2, 2')],
    ['a length twice', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: 2', 'Content-Length: 2')],
    ['a length with a sign', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: +2')],
    ['a length in hex', request('POST /api/v1/teams HTTP/1.1', Host, 'Content-Length: 0x2')],
    ['an endless length', request('POST /api/v1/teams HTTP/1.1', Host, `Content-Length: ${'9'.repeat(30)}`)],
    [
      'chunks and then a length',
      request('POST /api/v1/teams HTTP/1.1', Host, 'Transfer-Encoding: chunked', 'Content-Length: 2'),
    ],
    ['a coding after chunks', request('POST /api/v1/teams HTTP/1.1', Host, 'Transfer-Encoding: chunked, identity')],
    ['an unknown transfer coding', request('POST /api/v1/teams HTTP/1.1', Host, 'Transfer-Encoding: xchunked')],
  ] as const)('%s', async ([, text], { api }) => {
    const answer = await exchange(api, text);

    expectProblem(answer, 'malformed_request');
    expect(answer.headers['connection']).toBe('close');
  });

  test('chunks that are none, in the middle of a body', async ({ api }) => {
    const headers = request(
      'POST /api/v1/teams HTTP/1.1',
      Host,
      await authorized(api),
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    );

    expectProblem(await exchange(api, `${headers}zz\r\n`), 'malformed_request');
  });

  test.for([
    ['one long header', request(GET, Host, `X-Long: ${'x'.repeat(17_000)}`)],
    ['many headers', request(GET, Host, ...Array.from({ length: 900 }, (_, i) => `X-Header-${i}: ${'x'.repeat(20)}`))],
    ['a long path', request(`GET /api/v1/teams/${'x'.repeat(17_000)} HTTP/1.1`, Host)],
    ['a long credential', request(GET, Host, `Authorization: Bearer ${'x'.repeat(17_000)}`)],
  ] as const)('%s: 431', async ([, text], { api }) => {
    expectProblem(await exchange(api, text), 'headers_too_large');
  });

  test.for([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['garbage that comes in pieces', 'garbage\r\n', 400],
    ['too many headers', request(GET, Host, `X-Long: ${'x'.repeat(17_000)}`), 431],
  ] as const)('pipelined requests before %s get their own answers first', async ([, rest, status], { api }) => {
    const valid = request(GET, Host, await authorized(api));
    const socket = connect(api.port, '127.0.0.1', () => socket.write(valid + valid + rest));
    let received = '';
    for await (const chunk of socket) {
      received += String(chunk);
      // More of it must not be answered again.
      if (socket.writable) socket.write('garbage\r\n');
    }
    const answers = received.match(/HTTP\/1\.1 \d+/g);
    expect(answers).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', `HTTP/1.1 ${status}`]);
    expect(received.match(/"audience"/g)).toHaveLength(2);
  });

  test('pipelined requests before a broken body get their own answers first', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const credential = `Authorization: Bearer ${secret}`;
    const [json, chunked] = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const broken = request('POST /api/v1/teams HTTP/1.1', Host, credential, json, chunked);
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write(`${request(GET, Host, credential)}${broken}zz\r\n`),
    );
    let received = '';
    for await (const chunk of socket) received += String(chunk);

    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('a tunnel is not opened', async ({ api }) => {
    const answer = await statusLineOf(api, request('CONNECT elsewhere.example:443 HTTP/1.1', Host));

    expect(answer).not.toMatch(/ 2\d\d/);
  });

  // Guarantees that nothing a client sent comes back, its credential least of all.
  test.for(['/api/v1/teams', '/trpc/listTeams', '/oauth/token', '/nothing'])(
    'TRACE %s is refused and mirrors nothing',
    async (path, { api }) => {
      const answer = await exchange(
        api,
        request(`TRACE ${path} HTTP/1.1`, Host, 'X-Secret: mirror', await authorized(api)),
      );

      expect(answer.status).toBe(path === '/nothing' ? 404 : 405);
      expect(JSON.stringify(answer)).not.toMatch(/mirror|rst_pk/);
    },
  );

  test('two credentials are none, the first as little as the last', async ({ api }) => {
    const good = await authorized(api);
    for (const pair of [
      [good, good],
      [good, 'Authorization: Bearer x'],
      ['authorization: Basic eDp5', good],
    ]) {
      expectProblem(await exchange(api, request(GET, Host, ...pair)), 'credential_invalid');
    }
  });

  test('15 KiB of headers are read', async ({ api }) => {
    const answer = await exchange(api, request(GET, Host, await authorized(api), `X-Long: ${'x'.repeat(15 * 1024)}`));

    expect(answer.status).toBe(200);
  });
});

describe('a body that is rejected unread does not affect the next request on the connection', () => {
  test.for([
    ['too large', 'application/json', 'body_too_large'],
    ['of another type', 'text/plain', 'unsupported_media_type'],
  ] as const)('%s', async ([, type, code], { api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const authorization = `Authorization: Bearer ${key.secret}`;
    const body = 'x'.repeat(150 * 1024);
    const headers = request(
      'POST /api/v1/teams HTTP/1.1',
      'Host: localhost',
      authorization,
      `Content-Type: ${type}`,
      `Content-Length: ${body.length}`,
    );

    const statuses = await statusesOf(api, headers + body + request(GET, 'Host: localhost', authorization));

    expect(statuses).toEqual([`HTTP/1.1 ${PROBLEMS[code][0]}`, 'HTTP/1.1 200']);
  });

  test('chunks beyond the limit, of an unknown number', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const authorization = `Authorization: Bearer ${key.secret}`;
    const headers = request(
      'POST /api/v1/teams HTTP/1.1',
      'Host: localhost',
      authorization,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    );
    const chunks = `${(500 * 1024).toString(16)}\r\n${'x'.repeat(500 * 1024)}\r\n0\r\n\r\n`;

    const statuses = await statusesOf(api, headers + chunks + request(GET, 'Host: localhost', authorization));

    expect(statuses).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  // Guarantees that a client that hangs up is neither a 503 nor a fault of ours in the log.
  test('a client that goes away in the middle of its body', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const headers = [
      'Host: localhost',
      `Authorization: Bearer ${key.secret}`,
      'Content-Type: application/json',
      'Content-Length: 50',
      'X-Request-Id: gone',
    ];
    const socket = connect(api.port, '127.0.0.1', () => {
      socket.write(`${request('POST /api/v1/teams HTTP/1.1', ...headers, 'Expect: 100-continue')}`);
    });

    socket.once('data', () => socket.write('{"name":', () => socket.destroy()));

    const logged = () =>
      api.lines.filter(({ clientRequestId }) => clientRequestId === 'gone').map(({ level, status }) => [level, status]);
    // The end of the body or that of the connection is noticed first.
    await expect.poll(logged, { interval: 5 }).toEqual([[30, expect.toBeOneOf([400, 408])]]);
  });

  test('a client that waits for 100 Continue gets it', async ({ api }) => {
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] });
    const headers = request(
      'POST /api/v1/teams HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${key.secret}`,
      'Content-Type: application/json',
      'Content-Length: 18',
      'Expect: 100-continue',
    );
    const socket = connect(api.port, '127.0.0.1');
    const status = new Promise<string>((resolve, reject) => {
      socket.on('error', reject).on('data', (chunk) => {
        if (chunk.toString().startsWith('HTTP/1.1 100')) socket.write('{"name":"Rockets"}');
        else resolve(chunk.toString().slice(0, 12));
      });
    });

    socket.write(headers);

    expect(await status).toBe('HTTP/1.1 201');
    socket.destroy();
  });

  // RFC 9110, section 10.1.1: an unknown expectation can be ignored.
  test('any other expectation changes nothing', async ({ api }) => {
    expectProblem(await exchange(api, request(GET, 'Host: localhost', 'Expect: nonsense')), 'credential_missing');
  });
});
