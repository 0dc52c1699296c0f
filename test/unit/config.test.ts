import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfigError, readConfig, VARIABLES } from '../../src/config/config.ts';
import { parseDatabaseUrl } from '../../src/config/database-url.ts';
import { readCatalogueFile } from '../../src/resources/permissions/file.ts';
import { aCertificate } from '../support/certificate.ts';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const NUMBERS = VARIABLES.filter((name) =>
  faultsOf({ [name]: 'many' }).some((fault) => fault.startsWith(`${name}: must be a whole number`)),
);

describe('the configuration', () => {
  test.each(['99999999999', '-1', '1.5', '1e3', '0x10', 'many', ' '])('accepts no number such as %j', (value) => {
    // PORT differs, because METRICS_PORT must not be equal to it.
    const numbers = Object.fromEntries(NUMBERS.map((name) => [name, value]));
    const faults = faultsOf({ ...numbers, PORT: `${value}0` });

    expect(NUMBERS.length).toBeGreaterThan(20);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(NUMBERS);
    for (const fault of faults) expect(fault).toMatch(/^\w+: must be a whole number from \d+ to \d+$/);
  });

  test('takes BASE_URL as an origin, with or without a slash at its end', () => {
    const faultOf = (url: string) => faultsOf({ BASE_URL: url })[0];

    expect(readConfig({ BASE_URL: 'https://Teams.Example.com:443/' }).baseUrl).toBe('https://teams.example.com');
    for (const url of ['https://a.example/x', 'https://a.example/?x', 'https://a.example/#x', 'https://a.example?'])
      expect(faultOf(url)).toBe('BASE_URL: must not contain a path, query or fragment');
    for (const url of ['https://ada@a.example', 'https://ada:secret@a.example', 'https://:secret@a.example'])
      expect(faultOf(url)).toBe('BASE_URL: must not contain a user or password');
    expect(faultOf('ftp://a.example')).toMatch(/^BASE_URL: must be an origin/);
    for (const url of ['http://a.example', 'http://localhost.a.example', 'http://alocalhost'])
      expect(faultOf(url)).toMatch(/^BASE_URL: must be https/);
    // Browsers and RFC 6761 know names below `localhost` as this machine.
    for (const url of ['http://localhost:3000', 'http://auth.localhost:3000', 'http://127.0.0.1', 'http://[::1]'])
      expect(readConfig({ BASE_URL: url })).toMatchObject({ baseUrl: url, isDevelopment: true });
  });

  test('takes a BRAND_COLOR that can be read on white, and a BRAND_NAME on one line', () => {
    expect(readConfig({}).brand).toEqual({ name: 'Roster', color: '#12664f', logo: null });
    expect(readConfig({ BRAND_NAME: ' Acme & Söhne ', BRAND_COLOR: '#7A0033' }).brand).toEqual({
      name: 'Acme & Söhne',
      color: '#7a0033',
      logo: null,
    });
    expect(faultsOf({ BRAND_COLOR: '#ffcc00' })).toEqual([
      expect.stringMatching(/^BRAND_COLOR: must have a contrast of at least 4.5:1 with white; that of #ffcc00 is 1.5/),
    ]);
    expect(faultsOf({ BRAND_COLOR: '#777777' })).toHaveLength(1);
    expect(faultsOf({ BRAND_COLOR: '#767676' })).toEqual([]);
    for (const color of ['red', '#fff', '#12345g', 'rgb(0,0,0)', '#000000;background:url(x)'])
      expect(faultsOf({ BRAND_COLOR: color })).toEqual(['BRAND_COLOR: must be a color as #rrggbb']);
    for (const name of ['Two\nlines', '<b>', 'x'.repeat(41), ' ', 'a\u202eb'])
      expect(faultsOf({ BRAND_NAME: name })).toEqual([expect.stringMatching(/^BRAND_NAME: must be/)]);
  });

  test('keeps the audit log for as long as the feeds that read it', () => {
    const fault = (days: number) => [
      `AUDIT_DAYS: must be at least EVENT_DAYS (${days}), because feeds read the audit log`,
    ];
    expect(faultsOf({ AUDIT_DAYS: '29' })).toEqual(fault(30));
    expect(faultsOf({ EVENT_DAYS: '366' })).toEqual(fault(366));
    expect(faultsOf({ AUDIT_DAYS: '30' })).toEqual([]);
    expect(faultsOf({ AUDIT_DAYS: '90', EVENT_DAYS: '90' })).toEqual([]);
  });

  test('compares TRPC_ORIGINS in the form in which browsers send them', () => {
    const { trpcOrigins } = readConfig({
      TRPC_ORIGINS: 'https://App.example/, http://localhost:5173,https://app.example',
    });

    expect(trpcOrigins).toEqual(['https://app.example', 'http://localhost:5173']);
    expect(faultsOf({ TRPC_ORIGINS: 'https://app.example/console' })).toHaveLength(1);
    expect(faultsOf({ TRPC_ORIGINS: '*' })).toHaveLength(1);
  });

  test.each(['1', 'true', 'off', '10.0.0.0/8', 'loopback, 192.0.2.1', '2001:db8::/32'])(
    'takes TRUST_PROXY %j',
    (value) => expect(faultsOf({ TRUST_PROXY: value })).toEqual([]),
  );

  test.each(['-1', '10.0.0.0/33', '10.0.0', 'proxy.example', ',', '::1/129', '10.0.0.0/8/8'])(
    'does not take TRUST_PROXY %j',
    (value) => expect(faultsOf({ TRUST_PROXY: value })).toEqual([expect.stringMatching(/^TRUST_PROXY: must be/)]),
  );

  test.each([
    ['Acme Teams <teams@acme.example>', 'Acme Teams', 'teams@acme.example'],
    ['"Acme, Inc." <teams@acme.example>', 'Acme, Inc.', 'teams@acme.example'],
    ['teams@acme.example', '', 'teams@acme.example'],
    [' <teams+a.b@acme.example> ', '', 'teams+a.b@acme.example'],
    ['Zoë <no-reply@müller.example>', 'Zoë', 'no-reply@xn--mller-kva.example'],
    ['李明 <no-reply@例え.jp>', '李明', 'no-reply@xn--r8jz45g.jp'],
    ['Roster <roster@localhost>', 'Roster', 'roster@localhost'],
  ])('takes MAIL_FROM %j', (text, name, address) => {
    expect(readConfig({ MAIL_FROM: text }).mailFrom).toEqual({ name, address });
  });

  test.each([
    'Acme Teams',
    'Acme <teams>',
    'a@acme.example, b@acme.example',
    'Team: a@acme.example, b@acme.example;',
    'a b@acme.example',
    'a@acme.example b@acme.example',
    'Acme <teams@acme example>',
    'Acme <@acme.example>',
    'Acme\tTeams <teams@acme.example>',
  ])('does not take MAIL_FROM %j', (text) => {
    expect(faultsOf({ MAIL_FROM: text })).toEqual([expect.stringMatching(/^MAIL_FROM: must be one mailbox/)]);
  });

  test('names the quotation marks and carriage returns of files in what it refuses', () => {
    const marks = 'the quotation marks are part of the value: remove them';
    const end = 'it contains a carriage return: save the file with Unix line ends';
    const faults = (env: Record<string, string>) => faultsOf(env).map((fault) => fault.split('; ').at(-1));

    for (const [name, value] of [
      ['MAIL_FROM', 'Acme <teams@acme.example>'],
      ['PORT', '3000'],
      ['TRUST_PROXY', '1'],
      ['SIGNUP', 'open'],
      ['SMTP_URL', 'smtp://mail.example'],
    ] as const) {
      expect(faults({ [name]: `"${value}"` }), name).toEqual([marks]);
      expect(faults({ [name]: `'${value}'` }), name).toEqual([marks]);
      // URLs are read without it.
      if (name !== 'SMTP_URL') expect(faults({ [name]: `${value}\r` }), name).toEqual([end]);
    }
    expect(faults({ DATA_DIR: './var\r' })).toEqual([end]);
    expect(faults({ PORT: 'many' })).toEqual(['PORT: must be a whole number from 1 to 65535']);
  });

  test('needs the host of the mail server', () => {
    for (const url of ['smtp://', 'smtps://:465', 'smtp://ada:secret@'])
      expect(faultsOf({ SMTP_URL: url }), url).toEqual([expect.stringMatching(/^SMTP_URL: must /)]);
  });

  test('warns about keys in quotation marks, which it keeps, and variables without effect', () => {
    const key = 'k'.repeat(40);
    const { secretKeys, warnings } = readConfig({ SECRET_KEYS: `"${key}"` });

    expect(secretKeys).toEqual([`"${key}"`]);
    expect(warnings).toEqual([expect.stringMatching(/^SECRET_KEYS: the quotation marks are part of the keys/)]);
    expect(readConfig({ PGHOST: 'db.example', PGSSLMODE: 'require' }).warnings).toEqual([]);
    const env = { DATABASE_URL: 'postgres://db.example/roster', SECRET_KEYS: key };
    expect(readConfig(env).warnings).toEqual([]);
    expect(
      readConfig({ ...env, PGPORT: '5433', PGHOST: 'other', PGSSLMODE: 'require', PGUSER: 'ada' }).warnings,
    ).toEqual(['PGHOST, PGPORT: without effect; DATABASE_URL says how to connect']);
  });
});

// Editors on Windows write one at the beginning of a file.
test('a byte order mark is no part of a setting, in the file of variables and in each file that one names', () => {
  const directory = mkdtempSync(join(tmpdir(), 'roster-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const aFile = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, `\uFEFF${content}`);
    return path;
  };
  const { cert, key } = aCertificate('db.example');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const [ca, certFile, keyFile] = [aFile('ca', cert), aFile('cert', cert), aFile('key', key)];
  const tls = new URLSearchParams({ sslmode: 'verify-full', sslrootcert: ca, sslcert: certFile, sslkey: keyFile });
  const databaseUrl = `postgres://db.example/roster?${tls.toString()}`;

  const config = readConfig({
    '\uFEFFPORT': '4000',
    SECRET_KEYS: 'k'.repeat(40),
    PLANS_FILE: aFile('plans', '[{"id":"free","name":"Free","seats":7}]'),
    GITHUB_SECRET_SCANNING_KEYS: aFile(
      'github',
      JSON.stringify({ public_keys: [{ key_identifier: 'one', key: pem }] }),
    ),
    REDIS_URL: 'rediss://redis.example',
    REDIS_CA: ca,
    REDIS_CERT: certFile,
    REDIS_KEY: keyFile,
    DATABASE_URL: databaseUrl,
  });

  expect(config.port).toBe(4000);
  expect(config.plans.get('free')?.seats).toBe(7);
  expect([...(config.githubSecretScanningKeys?.keys() ?? [])]).toEqual(['one']);
  expect(config.redis?.tls).toMatchObject({ ca: cert, cert, key });
  expect(parseDatabaseUrl(databaseUrl).tls).toMatchObject({ ca: cert, cert, key });
  const toError = (fault: string) => new Error(fault);
  expect(readCatalogueFile(aFile('permissions', '{"permissions":[]}'), toError).permissions).toEqual([]);
});
