import { OLDEST_NODE } from './programs.ts';
import { execFile } from 'node:child_process';
import { scryptSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashSync } from 'bcryptjs';
import { expect, onTestFinished, test } from 'vitest';
import { verifyPassword } from '../../src/crypto/password-hash.ts';
import { isRefusal, readRow, readType } from '../../src/resources/imports/rows.ts';
import { FIREBASE } from '../support/foreign-hashes.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/migrate-from');
const PASSWORD = 'wandering heron 42';
const BCRYPT = hashSync(PASSWORD, 4);

/** Converts files by one of the programs. @returns its rows, each of which can be imported, and what it left out */
async function convert(program: string, ...contents: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'roster-migrate-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const paths = contents.map((content, i) => {
    const path = join(directory, String(i));
    writeFileSync(path, content);
    return path;
  });
  const { stdout, stderr } = await promisify(execFile)(OLDEST_NODE, [join(EXAMPLE, program), ...paths]);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line, i) => {
      const typed = readType({ number: i, bytes: Buffer.from(line) });
      if (isRefusal(typed)) throw new Error(`${typed.detail}: ${line}`);
      const row = readRow(typed.stage, typed.value);
      if (isRefusal(row)) throw new Error(`${row.detail}: ${line}`);
      return JSON.parse(line) as Record<string, string | boolean>; // a valid row
    });
  return { rows, stderr };
}

const ndjson = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

const isRight = (row: { passwordHash?: unknown } | undefined, password = PASSWORD) =>
  verifyPassword(password, String(row?.passwordHash));

test('an export of Better Auth keeps passwords, organizations and members', async () => {
  const salt = '00112233445566778899aabbccddeeff';
  const key = scryptSync(PASSWORD, salt, 64, { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 }).toString('hex');
  const user = { table: 'user', createdAt: '2025-01-02T03:04:05.678+00:00', image: null };
  const { rows, stderr } = await convert(
    'better-auth.mjs',
    ndjson([
      {
        ...user,
        id: 'u1',
        name: 'Ann van Dam',
        email: 'ann@example.com',
        emailVerified: true,
        password: `${salt}:${key}`,
      },
      { table: 'user', id: 'u2', name: 'Bob', email: 'bob@example.com', email_verified: false, banned: true },
      {
        table: 'organization',
        id: 'o1',
        name: 'Acme',
        slug: 'acme',
        logo: null,
        metadata: '{"region":"eu"}',
        createdAt: '2025-02-03T00:00:00',
      },
      { table: 'organization', id: 'o2', name: 'Empty', slug: 'empty' },
      { table: 'member', id: 'm1', organizationId: 'o1', userId: 'u1', role: 'owner' },
      {
        table: 'member',
        id: 'm2',
        organization_id: 'o1',
        user_id: 'u2',
        role: 'admin',
        createdAt: '2025-02-04T00:00:00Z',
      },
    ]),
  );

  expect(rows).toMatchObject([
    {
      externalId: 'u1',
      emailVerified: true,
      firstName: 'Ann',
      lastName: 'van Dam',
      createdAt: '2025-01-02T03:04:05.678Z',
    },
    { externalId: 'u2', emailVerified: false, isDisabled: true },
    { type: 'membership', team: 'o1', account: 'u2', role: 'Admin' },
    {
      type: 'team',
      externalId: 'o1',
      slug: 'acme',
      owner: 'u1',
      roles: [{ name: 'Admin', permissions: expect.arrayContaining(['invite_members', 'remove_members']) }],
      metadata: { public: { region: 'eu' } },
    },
  ]);
  expect([await isRight(rows[0]), await isRight(rows[0], 'wrong')]).toEqual([true, false]);
  expect(stderr).toMatch(/organizations without an owner/);
});

test('an export of Clerk keeps passwords, organizations and members', async () => {
  const header =
    'id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher';
  const [, , , salt = '', hash = ''] = FIREBASE.split('$');
  const signer = /sk=([^$]+)/.exec(FIREBASE)?.[1] ?? '';
  const csv = [
    header,
    `user_1,"Ann ""A"", von",Dam,,ann@example.com,,ann@example.com,,,,,${BCRYPT},bcrypt`,
    `user_2,Bob,,,bob@example.com,,,bob@example.com,,,,${hash}$${salt}$${signer}$Bw==$8$14,scrypt_firebase`,
    'user_3,Cid,,,cid@example.com,,cid@example.com,,,,,5f4dcc3b5aa765d61d8327deb882cf99,md5',
    'user_4,,,phone-only,,+15555550100,,,,,,,',
  ].join('\r\n');
  const organization = {
    id: 'org_1',
    name: 'Acme',
    slug: 'acme',
    created_by: 'user_2',
    created_at: 1_735_689_600_000,
    private_metadata: { crm: 'C-1' },
  };
  const member = (id: string, role: string) => ({ organization, role, public_user_data: { user_id: id } });

  const { rows, stderr } = await convert(
    'clerk.mjs',
    csv,
    JSON.stringify({
      data: [
        member('user_1', 'org:admin'),
        member('user_2', 'org:admin'),
        member('user_3', 'org:member'),
        member('user_4', 'org:night_shift'),
        // Names of roles that every team of Roster has.
        member('user_5', 'org:guest'),
        member('user_6', 'org:owner'),
      ],
    }),
  );

  expect(rows).toMatchObject([
    { externalId: 'user_1', firstName: 'Ann "A", von', lastName: 'Dam', emailVerified: true },
    { externalId: 'user_2', emailVerified: false },
    { externalId: 'user_3' },
    {
      type: 'team',
      externalId: 'org_1',
      owner: 'user_2',
      createdAt: '2025-01-01T00:00:00.000Z',
      roles: [
        { name: 'Admin', permissions: expect.arrayContaining(['access_billing', 'manage_api_keys']) },
        { name: 'Night shift', permissions: ['access_dashboard'] },
      ],
      metadata: { private: { crm: 'C-1' } },
    },
    { type: 'membership', account: 'user_1', role: 'Admin' },
    { type: 'membership', account: 'user_3', role: 'member' },
    { type: 'membership', account: 'user_4', role: 'Night shift' },
    { type: 'membership', account: 'user_5', role: 'guest' },
    { type: 'membership', account: 'user_6', role: 'Admin' },
  ]);
  expect([await isRight(rows[0]), await isRight(rows[1], 'user1password'), rows[2]?.['passwordHash']]).toEqual([
    true,
    true,
    undefined,
  ]);
  expect(stderr).toMatch(/new role Night shift/);
  expect(stderr).toMatch(/hasher md5/);
  expect(stderr).toMatch(/without an email address/);
});

test('an export of Auth0 keeps passwords and ids', async () => {
  const { rows } = await convert(
    'auth0.mjs',
    ndjson([
      { _id: { $oid: '5dea9f9c' }, email_verified: true, email: 'ann@example.com', passwordHash: BCRYPT, tenant: 't' },
      {
        _id: { $oid: 'x' },
        alt_id: 'euclid',
        identifiers: [{ type: 'email', value: 'bob@example.com', verified: true }],
      },
    ]),
    ndjson([
      {
        user_id: 'auth0|euclid',
        given_name: 'Bob',
        picture: 'https://example.com/b.png',
        blocked: true,
        user_metadata: { theme: 'dark' },
        app_metadata: { plan: 'gold' },
      },
    ]),
  );

  expect(rows).toMatchObject([
    { externalId: 'auth0|5dea9f9c', email: 'ann@example.com', emailVerified: true },
    {
      externalId: 'auth0|euclid',
      email: 'bob@example.com',
      emailVerified: true,
      firstName: 'Bob',
      isDisabled: true,
      metadata: { public: { theme: 'dark' }, private: { plan: 'gold' } },
    },
  ]);
  expect(await isRight(rows[0])).toBe(true);
});
