import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { createSourceReader } from '../../src/http/client-address.ts';
import { openGeolocation } from '../../src/http/geolocation.ts';
import { startApi, test as apiTest, type Api } from '../support/api.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { signedIn, type Visitor } from '../support/browser.ts';

const directory = mkdtempSync(join(tmpdir(), 'roster-places-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Signs in with a new passkey, and says how the session is described. */
async function sessionOf(api: Api, visitor: Visitor) {
  const authenticator = createAuthenticator();
  const { passkeys } = (await signedIn(api, await api.anAccount())).trpc;
  const response = authenticator.create(await passkeys.registrationOptions.mutate());
  await passkeys.register.mutate({ name: 'A passkey', response });
  await visitor.trpc.passkeys.signIn.mutate({
    response: authenticator.get(await visitor.trpc.passkeys.signInOptions.mutate()),
  });
  const sessions = await visitor.trpc.listMySessions.query();
  return sessions.find(({ isCurrentSession }) => isCurrentSession);
}

describe('a session names the device', () => {
  apiTest.for([
    ['Firefox', 'Linux', 'desktop', 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'],
    [
      'Firefox',
      'macOS',
      'desktop',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0',
    ],
    [
      'Chrome',
      'Windows',
      'desktop',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
    ],
    [
      'Chrome',
      'Android',
      'mobile',
      'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
    ],
    [
      'Chrome',
      'Linux',
      'desktop',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36',
    ],
    [
      'Safari',
      'iOS',
      'mobile',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    ],
    [
      'Safari',
      'iOS',
      'tablet',
      'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    ],
    [
      'Microsoft Edge',
      'Windows',
      'desktop',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
    ],
    [null, null, null, 'curl/8.14.1'],
    [null, null, null, ''],
    [null, null, null, ' '],
    [null, null, null, 'x'.repeat(10_000)],
    // Guarantees that clients cannot inject text into the list of sessions and the emails about them.
    [null, null, null, 'Call +1 555 0100 or see example.com/help (X11)'],
    [null, null, null, `${'Reset it at https://example.com '.repeat(200)}/1 `],
    [null, null, null, '\u0080\u00ff<script>alert(1)</script>/1 '],
    [null, 'Windows', 'desktop', '<b>Me</b>/1.0 (Windows NT 10.0; Win64; x64)'],
  ] as const)('%s on %s, %s', async ([browser, os, deviceType, userAgent], { api }) => {
    expect(await sessionOf(api, api.visitor({ userAgent }))).toMatchObject({ browser, os, deviceType });
  });
});

describe('a session names the place', () => {
  const FORGED = { 'cf-ipcountry': 'DE', 'cf-ipcity': 'Berlin' };
  const HEADERS = { COUNTRY_HEADER: 'CF-IPCountry', CITY_HEADER: 'CF-IPCity' };

  const placeBy = async (settings: Record<string, string>, headers: Record<string, string>) => {
    const api = await startApi(settings);
    const visitor = api.visitor();
    Object.assign(visitor.headers, headers);
    const session = await sessionOf(api, visitor);
    await api.close();
    return [session?.country, session?.city];
  };

  test('by the headers of a proxy that is trusted', async () => {
    expect(await placeBy({ ...HEADERS, TRUST_PROXY: '1' }, FORGED)).toEqual(['DE', 'Berlin']);
    expect(await placeBy({ ...HEADERS, TRUST_PROXY: '127.0.0.0/8' }, FORGED)).toEqual(['DE', 'Berlin']);
  });

  // Guarantees that a client cannot choose the location that its session and the email about it show.
  test.each([
    ['without TRUST_PROXY', HEADERS],
    ['with no hops', { ...HEADERS, TRUST_PROXY: '0' }],
    ['past the proxy that is trusted', { ...HEADERS, TRUST_PROXY: '192.0.2.0/24' }],
    ['with no header named', { TRUST_PROXY: '1' }],
  ])('not by headers %s', async (_case, settings) => {
    expect(await placeBy(settings, FORGED)).toEqual([null, null]);
  });
});

type Place = Awaited<ReturnType<Awaited<ReturnType<typeof openGeolocation>>>>;

/** A request as far as its place is concerned. */
const requestWith = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

describe('the headers of a trusted proxy', () => {
  const locateClient = async (city: string): Promise<Place> => {
    const settings = { countryHeader: 'x-country', cityHeader: 'x-city', maxmindFile: undefined };
    const places = await openGeolocation(settings, () => true);
    return places(requestWith({ 'x-country': 'DE', 'x-city': city }), '203.0.113.9');
  };

  test('may be in UTF-8', async () => {
    expect((await locateClient(Buffer.from('München').toString('latin1'))).city).toBe('München');
    expect((await locateClient('M\u00fcnchen')).city).toBe('München');
  });

  test('are bounded to 100 characters', async () => {
    expect((await locateClient(Buffer.from('🏙'.repeat(150)).toString('latin1'))).city).toBe('🏙'.repeat(100));
  });

  test.each(['', '  ', 'a\u0000b', 'a\tb', Buffer.from('a\u202eb').toString('latin1')])(
    'mean nothing as %j',
    async (city) => {
      expect(await locateClient(city)).toEqual({ country: 'DE', city: null });
    },
  );
});

describe('MAXMIND_FILE', () => {
  const file = (name: string, content: Buffer) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const settings = (maxmindFile: string) => ({ countryHeader: undefined, cityHeader: undefined, maxmindFile }) as const;

  test('describes the location of an IP address', async () => {
    const places = await openGeolocation(
      settings(file('city.mmdb', mmdb('GeoLite2-City', [203, 0, 113, 9]))),
      () => false,
    );
    const of = (address: string) => places(requestWith({}), address);

    expect(of('203.0.113.9')).toEqual({ country: 'DE', city: 'Berlin' });
    for (const address of ['203.0.113.8', '127.0.0.1', '', 'unknown', '_hidden', '203.0.113.9:4711', '999.1.1.1']) {
      expect(of(address)).toEqual({ country: null, city: null });
    }
  });

  test('may lack what the documentation of its makers promises', async () => {
    const places = await openGeolocation(
      settings(file('country.mmdb', mmdb('Somebody-Country', [203, 0, 113, 9], {}))),
      () => false,
    );

    expect(places(requestWith({}), '203.0.113.9')).toEqual({ country: null, city: null });
  });

  test.each([
    ['is missing', () => join(directory, 'no-such.mmdb'), /no such file/],
    ['is a directory', () => directory, /EISDIR/],
    ['is empty', () => file('empty.mmdb', Buffer.alloc(0)), /not a MaxMind database/],
    ['is something else', () => file('text.mmdb', Buffer.from('no database\n'.repeat(1000))), /not a MaxMind database/],
    [
      'is cut off',
      () => file('cut.mmdb', mmdb('GeoLite2-City', [203, 0, 113, 9]).subarray(0, -20)),
      /not a MaxMind database/,
    ],
    ['is about networks', () => file('asn.mmdb', mmdb('GeoLite2-ASN', [203, 0, 113, 9])), /its type is GeoLite2-ASN/],
  ])('that %s is a wrong setting, told in one line', async (_case, path, reason) => {
    const error: unknown = await openGeolocation(settings(path()), () => false).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError; // as the line before says
    expect(message).toMatch(/^MAXMIND_FILE: [^\n]+$/);
    expect(message).toMatch(reason);
  });

  test('that is wrong stops the start', async () => {
    const main = join(import.meta.dirname, '../../src/main.ts');
    const env = {
      PATH: process.env['PATH'],
      DATA_DIR: join(directory, 'var'),
      MAXMIND_FILE: join(directory, 'no-such.mmdb'),
    };
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [main], { env }, (error, _stdout, text) =>
        resolve({ code: error?.code, stderr: text }),
      );
    });

    expect(code).toBe(1);
    expect(stderr).toMatch(/^roster: MAXMIND_FILE: [^\n]+\n$/);
  });
});

describe('the address of a client', () => {
  const behind = (trustProxy: boolean | number | string, forwarded: string, remoteAddress = '10.0.0.1') =>
    createSourceReader(trustProxy).address(requestWith({ 'x-forwarded-for': forwarded }, remoteAddress));

  // Guarantees that a client which writes the header itself gains nothing: proxies append what they saw.
  test.each([
    ['without a proxy, the connection', false, '198.51.100.66', '10.0.0.1'],
    ['with no hops, the connection', 0, '198.51.100.66', '10.0.0.1'],
    ['behind one proxy, what that one saw', 1, '198.51.100.66, 203.0.113.9', '203.0.113.9'],
    ['behind “true”, what the one in front saw', true, '198.51.100.66, 203.0.113.9', '203.0.113.9'],
    ['behind two proxies, what the first one saw', 2, '198.51.100.66, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    [
      'behind proxies by address, the last that is none of them',
      '10.0.0.0/8',
      '198.51.100.66, 203.0.113.9, 10.0.0.2',
      '203.0.113.9',
    ],
    [
      'behind proxies by address, not a forged one of theirs',
      '10.0.0.0/8',
      '10.9.9.9, 203.0.113.9, 10.0.0.2',
      '203.0.113.9',
    ],
    ['past the proxies by address, the connection', '192.0.2.1', '198.51.100.66', '10.0.0.1'],
    ['behind a proxy that adds the port', 1, '203.0.113.9:4711', '203.0.113.9'],
    ['behind a proxy that adds brackets', 1, '[2001:db8::9]', '2001:db8::9'],
    ['behind a proxy that adds brackets and the port', 1, '[2001:db8::9]:4711', '2001:db8::9'],
    ['behind proxies by address that add the port', '10.0.0.0/8', '203.0.113.9:1, 10.0.0.2:2', '203.0.113.9'],
    ['behind a proxy that maps IPv4', 1, '::ffff:203.0.113.9', '203.0.113.9'],
    ['behind a proxy that adds a zone', 1, 'fe80::1%eth0', 'fe80::1'],
    ['behind a proxy that hides it, none', 1, 'unknown', ''],
    ['behind a proxy that passes something else, none', 1, '127.1', ''],
    ['behind a proxy that adds nothing, the connection', 1, ' , ', '10.0.0.1'],
  ] as const)('%s', (_case, trustProxy, forwarded, expected) => {
    expect(behind(trustProxy, forwarded)).toBe(expected);
  });

  test('of IPv4 over an IPv6 socket is the IPv4 address', () => {
    expect(behind(false, '', '::ffff:192.0.2.7')).toBe('192.0.2.7');
  });

  test.each([[false], [true], [1], ['10.0.0.0/8']] as const)(
    'with TRUST_PROXY %s is what it was when the request arrived, also after the socket has closed',
    (trustProxy) => {
      const reader = createSourceReader(trustProxy);
      const req = requestWith({}, '10.0.0.1');
      const closed = requestWith({});
      Object.assign(closed.socket, { remoteAddress: undefined });

      expect(reader.address(req)).toBe('10.0.0.1');
      Object.assign(req.socket, { remoteAddress: undefined });
      expect(reader.address(req)).toBe('10.0.0.1');
      expect(reader.address(closed)).toBe('');
    },
  );
});

/** The smallest MaxMind database that knows one address: 32 nodes, one a bit, and what there is to say of it. */
function mmdb(
  type: string,
  address: readonly number[],
  record: Value = { country: { iso_code: 'DE' }, city: { names: { en: 'Berlin' } } },
): Buffer {
  const bits = address.flatMap((byte) => Array.from({ length: 8 }, (_, i) => (byte >> (7 - i)) & 1));
  const count = bits.length;
  const SEPARATOR_SIZE = 16;
  const tree = bits.map((bit, i) => {
    const next = i === count - 1 ? count + SEPARATOR_SIZE : i + 1;
    const node = Buffer.alloc(6);
    node.writeUIntBE(bit === 0 ? next : count, 0, 3);
    node.writeUIntBE(bit === 1 ? next : count, 3, 3);
    return node;
  });
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: type,
    description: { en: type },
    ip_version: 4,
    node_count: count,
    record_size: 24,
  };
  return Buffer.concat([
    ...tree,
    Buffer.alloc(SEPARATOR_SIZE),
    field(record),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    field(metadata),
  ]);
}

type Value = string | number | { readonly [name: string]: Value };

/** A value in MaxMind's data format, of fewer than 29 bytes or members. */
function field(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)]);
  if (typeof value === 'number') return Buffer.from([(6 << 5) | 4, 0, 0, value >> 8, value & 255]);
  const members = Object.entries(value);
  return Buffer.concat([
    Buffer.from([(7 << 5) | members.length]),
    ...members.flatMap(([name, member]) => [field(name), field(member)]),
  ]);
}
