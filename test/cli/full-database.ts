import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../src/crypto/tokens.ts';
import { newId } from '../../src/entities/index.ts';
import { chainEvents } from '../../src/events/chain/append.ts';
import { createAccount } from '../../src/resources/accounts/accounts.service.ts';
import type { Api } from '../support/api.ts';

const PASSWORD = 'wandering heron 42';

/** All that COPY, JSON and shells have a special mind about. */
const AWKWARD = 'tab\t, line\nfeed, back\\slash, \\., \\N, "quotes" and \'more\', ünïcode 🛶';

/** A row in every table, made as the service makes it where that is what a test asks about later. */
export async function fillEverything(api: Api) {
  const owner = await api.anAccount({ firstName: AWKWARD, lastName: '\\N' });
  const team = await api.aTeam({ owner, name: AWKWARD });
  const nominee = await api.anAccount();
  await api.aMember(team, nominee, { role: (await api.aRole(team, ['invite_members', 'edit_team_settings'])).id });
  await api.aSubscription(team, { seats: 3 });
  const key = await api.anApiKey(owner, { scopes: ['teams:read', 'members:read', 'invites:write'], team });
  await api.anApiKey(owner, { revoked: true });
  const grant = await api.aGrant(owner, {
    client: await api.anOAuthClient({ confidential: true, owner }),
    scopes: ['teams:read'],
  });
  await api.aSession(owner, { browser: AWKWARD });
  const invited = await api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email: 'Ines@example.com' });

  const person = { email: 'paul@example.com', password: PASSWORD };
  await chainEvents(api.services, { info: () => undefined, warn: () => undefined, error: () => undefined });
  // What has no place in the chain yet.
  await createAccount(api.services.db, 'system', api.services.config, { ...person, isEmailVerified: true });
  await api.visitor().trpc.auth.signUp.mutate({ ...person, email: 'unverified@example.com' });
  const waits = 'select max(id) from audit_event where not exists (select from audit_link where event_id = id)';
  await api.rows(`insert into audit_pending ${waits}`);

  // The product's data, also where the tables have a default.
  const metadata = [JSON.stringify({ of: AWKWARD, n: 1.5e300 }), JSON.stringify({ hidden: AWKWARD })];
  for (const table of ['account', 'team', 'membership'])
    await api.rows(
      `update ${table} set public_metadata = $1::json, private_metadata = $2::json, metadata_version = 7`,
      metadata,
    );
  for (const table of ['role', 'api_key', 'oauth_client', 'oauth_grant'])
    await api.rows(`update ${table} set product_permissions = '{invoices:write}'`);

  const hash = () => randomBytes(32);
  const later = new Date(Date.now() + 3_600_000);
  const others: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    account_token: { token_hash: hash(), account_id: owner.id, purpose: 'reset_password', email: owner.email },
    api_key_use: { api_key_id: key.id, day: '2026-11-22', requests: '9007199254740993', address: '2001:db8::1' },
    known_device: { id: newId('dev'), account_id: owner.id, token_hash: hash(), last_seen_at: later },
    passkey: {
      id: newId('pass'),
      account_id: owner.id,
      name: AWKWARD,
      credential_id: 'id',
      public_key: hash(),
      counter: '9007199254740993',
      transports: ['usb', AWKWARD],
    },
    passkey_challenge: { id: newId('chal'), challenge: 'c' },
    signing_key: {
      id: newId('sig'),
      public_key: JSON.stringify({ kty: 'RSA', n: AWKWARD }),
      private_key: AWKWARD,
      created_at: later,
    },
    declared_permission: {
      name: 'invoices:write',
      position: 1,
      title: { en: AWKWARD },
      is_sensitive: true,
      roles: ['member'],
      is_for_keys: true,
      is_deprecated: false,
    },
    role_template: {
      id: newId('rtpl'),
      name: AWKWARD,
      name_skeleton: 's',
      permissions: ['access_billing'],
      updated_at: later,
    },
    ownership_transfer: { team_id: team.id, nominee_id: nominee.id },
    authorization_request: { id_hash: hash(), payload: { text: AWKWARD, long: hash().toString('hex').repeat(5000) } },
    oauth_artifact: { key_hash: hash(), model: 'Any', payload: [null, 1.5, '\\u0041'] },
    oauth_token_family: {
      id: newId('family'),
      account_id: owner.id,
      client_id: grant.clientId,
      resource: 'api',
      scopes: ['teams:read'],
      grant_id: grant.id,
    },
    oauth_refresh_answer: { token_hash: hashSecret(grant.secret), answer: '', successors: [hash(), hash()] },
    picture: { name: 'n', team_id: team.id, content: randomBytes(20_000), cleanup_at: later },
    sent_mail: { id: newId('mail'), recipient: AWKWARD },
    webhook_cursor: { sequence: '1' },
    webhook_endpoint: { id: 'whe_1', team_id: team.id, url: AWKWARD, types: ['team.updated'], secret: '' },
    webhook_queue: { endpoint_id: 'whe_1', is_failing: true },
    webhook_delivery: {
      id: 'whd_1',
      endpoint_id: 'whe_1',
      event_id: 'evt_1',
      event: 'team.updated',
      state: 'waiting',
      due_at: later,
    },
    operator_key: {
      id: 'opk_1',
      name: AWKWARD,
      scopes: ['accounts:read'],
      addresses: ['192.0.2.0/24'],
      key_prefix: 'rst_ok_',
      last4: '0000',
    },
    operator_key_secret: { secret_hash: hash(), operator_key_id: 'opk_1' },
    idempotency_key: { key_hash: hash(), credential_id: key.id, operation: 'createTeam', fingerprint: hash() },
    password_scheme: { kind: '2b', scheme: '$2b$12$', work: '4096', accounts: 3, updated_at: later },
    import_run: {
      id: 'imp_1',
      fingerprint: AWKWARD,
      stage: 'account',
      line: 1,
      counts: { created: 1 },
      report_bytes: '9007199254740993',
      batches: 1,
      operator_key_id: 'opk_1',
      is_dry_run: true,
      received_at: later,
      lines: 1,
      failure: AWKWARD,
    },
    import_content: { import_id: 'imp_1', number: 0, bytes: Buffer.from([0, 255, 10, 92]) },
    import_refusal: {
      import_id: 'imp_1',
      number: 1,
      line: 1,
      type: 'account',
      external_id: AWKWARD,
      code: 'invalid',
      detail: AWKWARD,
    },
    webhook_attempt: { id: 'wha_1', delivery_id: 'whd_1', duration_ms: 1, error: AWKWARD, answer: AWKWARD },
  };
  for (const [table, fields] of Object.entries(others)) {
    const has = await api.rows<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = $1 and column_name in ('created_at', 'expires_at')`,
      [table],
    );
    const row = { ...Object.fromEntries(has.map(({ name }) => [name, later])), ...fields };
    const values = Object.values(row).map((value) => (isJson(value) ? JSON.stringify(value) : value));
    await api.rows(
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${values.map((_, index) => `$${index + 1}`).join(', ')})`,
      values,
    );
  }
  await api.rows('update oauth_token set family_id = (select id from oauth_token_family)', []);
  return { owner, team, key, grant, person, invitation: { id: String(invited.body.id) } };
}

/** Objects, and lists that are no lists of one type. */
const isJson = (value: unknown): boolean =>
  typeof value === 'object' &&
  !(value instanceof Date) &&
  !Buffer.isBuffer(value) &&
  !(Array.isArray(value) && value.every((item) => typeof item === 'string' || Buffer.isBuffer(item)));
