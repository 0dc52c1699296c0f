import type pg from 'pg';

/** The expression of each column by table. `n` is the number of a row. */
export type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Rows of every table that grows. */
export const TABLES: Tables = {
  account: {
    id: `'acc_' || n`,
    email: `'u' || n || '@example.com'`,
    external_id: `'crm-' || n`,
    first_name: `'First' || n`,
    created_at: 'now()',
    updated_at: 'now()',
    email_verified_at: 'now()',
  },
  team: {
    id: `'team_' || n`,
    external_id: `'tenant-' || n`,
    name: `'Team ' || n`,
    slug: `'team-' || n`,
    created_at: 'now()',
    updated_at: 'now()',
  },
  role: {
    id: `'role_' || n`,
    team_id: `'team_' || n`,
    name: `'Role'`,
    name_skeleton: `'role'`,
    permissions: `'{}'`,
    created_at: 'now()',
  },
  membership: {
    id: `'mem_' || n`,
    team_id: `'team_' || n % 5000`,
    account_id: `'acc_' || n`,
    role_id: `'member'`,
    joined_at: 'now()',
    created_at: 'now()',
  },
  subscription: { team_id: `'team_' || n`, plan_id: `'pro'` },
  ownership_transfer: { team_id: `'team_' || n`, nominee_id: `'acc_' || n`, created_at: 'now()', expires_at: 'now()' },
  invitation: {
    id: `'invt_' || n`,
    team_id: `'team_' || n`,
    email: `'i' || n || '@example.com'`,
    role_id: `'member'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  invitation_link: { token_hash: 'sha256(n::text::bytea)', invitation_id: `'invt_' || n`, created_at: 'now()' },
  session: {
    id: `'ses_' || n`,
    account_id: `'acc_' || n`,
    token_hash: 'sha256(n::text::bytea)',
    expires_at: `now() + n * interval '1 second'`,
    idle_expires_at: `now() + interval '1 day'`,
    created_at: 'now()',
  },
  known_device: {
    id: `'dev_' || n`,
    account_id: `'acc_' || n`,
    token_hash: 'sha256(n::text::bytea)',
    last_seen_at: 'now()',
    created_at: 'now()',
  },
  account_token: {
    token_hash: 'sha256(n::text::bytea)',
    account_id: `'acc_' || n`,
    purpose: `'sign_in'`,
    email: `'e'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  sign_up_attempt: {
    id: `'sua_' || n`,
    account_id: `'acc_x' || n`,
    email: `'s' || n || '@example.com'`,
    password_hash: `'x'`,
    browser_hash: `'x'`,
    token_hash: 'sha256(n::text::bytea)',
    session_token_hash: 'sha256(n::text::bytea)',
    expires_at: 'now()',
    created_at: 'now()',
  },
  idempotency_key: {
    key_hash: 'sha256(n::text::bytea)',
    credential_id: `'key_' || n`,
    operation: `'createTeam'`,
    fingerprint: `'x'`,
    created_at: `now() - n * interval '1 minute'`,
  },
  picture: { name: `'p' || n`, account_id: `'acc_' || n`, content: `'x'`, cleanup_at: 'now()', created_at: 'now()' },
  sent_mail: { id: `'mail_' || n`, recipient: `'u' || n || '@example.com'`, created_at: 'now()' },
  passkey: {
    id: `'pk_' || n`,
    account_id: `'acc_' || n`,
    name: `'Key'`,
    credential_id: `'c' || n`,
    public_key: `'x'`,
    counter: '0',
    transports: `'{}'`,
    created_at: 'now()',
  },
  passkey_challenge: {
    id: `'chl_' || n`,
    challenge: `'c' || n`,
    account_id: `'acc_' || n`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  oauth_client: {
    id: `'client_' || n`,
    source: `'operator'`,
    name: `'App'`,
    redirect_uris: `'{}'`,
    created_at: 'now()',
  },
  oauth_client_secret: {
    secret_hash: 'sha256(n::text::bytea)',
    client_id: `'client_' || n`,
    last4: `'0000'`,
    created_at: 'now()',
  },
  oauth_grant: {
    id: `'grant_' || n`,
    account_id: `'acc_' || n`,
    client_id: `'client_' || n % 100`,
    audience: `'personal'`,
    scopes: `'{teams:read}'`,
    resource: `'api'`,
    expires_at: `now() + interval '1 day'`,
    created_at: 'now()',
  },
  oauth_token_family: {
    id: `'family_' || n`,
    account_id: `'acc_' || n`,
    client_id: `'client_' || n % 100`,
    resource: `'api'`,
    scopes: `'{teams:read}'`,
    grant_id: `'grant_' || n`,
    created_at: 'now()',
  },
  oauth_token: {
    token_hash: 'sha256(n::text::bytea)',
    kind: `'access'`,
    grant_id: `'grant_' || n`,
    family_id: `'family_' || n`,
    scopes: `'{teams:read}'`,
    payload: `'{}'`,
    expires_at: 'now()',
    created_at: 'now()',
  },
  oauth_refresh_answer: {
    token_hash: 'sha256(n::text::bytea)',
    answer: `'x'`,
    successors: `'{}'`,
    created_at: 'now()',
  },
  oauth_artifact: { key_hash: 'sha256(n::text::bytea)', model: `'Session'`, payload: `'{}'`, expires_at: 'now()' },
  authorization_request: { id_hash: 'sha256(n::text::bytea)', payload: `'{}'`, expires_at: 'now()' },
  api_key: {
    id: `'key_' || n`,
    account_id: `'acc_' || n`,
    team_id: `case n % 2 when 0 then 'team_' || n end`,
    name: `'Key'`,
    scopes: `'{teams:read}'`,
    key_prefix: `'rst'`,
    last4: `'0000'`,
    created_at: 'now()',
  },
  api_key_use: { api_key_id: `'key_' || n`, day: `current_date - n % 90`, requests: '1' },
  api_key_secret: { secret_hash: 'sha256(n::text::bytea)', api_key_id: `'key_' || n`, created_at: 'now()' },
  audit_event: {
    id: `'evt_' || lpad(n::text, 26, '0')`,
    occurred_at: 'now()',
    event: `'team.created'`,
    actor_kind: `'session'`,
    team_id: `'team_' || n`,
    account_id: `'acc_' || n`,
    details: `'{}'`,
  },
};

/** Fills tables without checks, so that their rows need no others. */
export async function fillTables(client: Pick<pg.Client, 'query'>, tables: Tables, rows: number): Promise<void> {
  await client.query('set session_replication_role = replica');
  for (const [table, columns] of Object.entries(tables)) {
    const [names, values] = [Object.keys(columns).join(', '), Object.values(columns).join(', ')];
    await client.query(`insert into ${table} (${names}) select ${values} from generate_series(1, ${rows}) n`);
  }
  await client.query('reset session_replication_role');
  await client.query('analyze');
}
