import { createEncryption } from '../../src/crypto/encryption.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { generateSecret } from '../../src/crypto/webhook-secret.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Services } from '../../src/service/services.ts';
import { createTestDatabase } from '../support/database.ts';
import { factoriesOf } from '../support/factories.ts';

export const MARKER = 'Mallory';
/** What the rules of names leave: characters that turn text around, or show nothing. */
export const READABLE = `${MARKER}\u200E\u061C\u200B\u2060  forged`;
/** Gives orders to a terminal, and makes other columns and rows, turned around. REST accepts it as a name. */
export const HOSTILE = `${MARKER}\u001b]0;owned\u0007\u001b[2J\u202E  forged\r\nforged\u2028forged\u0085\u2800\u2066א`;

export const SECRET_KEYS = 'k'.repeat(40);
export type Scene = Awaited<ReturnType<typeof aScene>>;
type Factories = ReturnType<typeof factoriesOf>;

/** A database in which everything has the name. */
export async function aScene() {
  const database = await createTestDatabase();
  const db = await openDatabase(database.url, 2);
  const make: Factories = factoriesOf({ db, tokens: createTokens('rst') } as Services);
  const { rows } = make;
  const metadata = JSON.stringify({ name: HOSTILE });
  const person = async () => {
    const made = await make.anAccount({ firstName: HOSTILE, lastName: HOSTILE });
    await rows('update account set public_metadata = $2 where id = $1', [made.id, metadata]);
    return made;
  };
  const owner = await person();
  const team = async () => {
    const made = await make.aTeam({ owner, name: HOSTILE });
    await rows('update team set private_metadata = $2 where id = $1', [made.id, metadata]);
    return made;
  };
  const role = async (of: { id: string }) => {
    const { id } = await make.aRole(of, []);
    await rows('update role set name = $2 where id = $1', [id, HOSTILE]); // older than the rule of role names
    return id;
  };
  const member = async (of: { id: string }) => {
    const made = await person();
    await make.aMember(of, made, { role: await role(of) });
    await rows('update membership set public_metadata = $2 where account_id = $1', [made.id, metadata]);
    return made.email;
  };
  const key = async () => {
    const { id } = await make.anApiKey(owner);
    await rows('update api_key set name = $2 where id = $1', [id, HOSTILE]);
    return id;
  };
  const template = async () => {
    const [made] = await rows<{ id: string }>(
      `insert into role_template (id, name, name_skeleton, permissions, created_at, updated_at)
       values ('rtpl_' || gen_random_uuid(), $1 || gen_random_uuid(), gen_random_uuid()::text, '{}', now(), now()) returning id`,
      [HOSTILE],
    );
    return made?.id ?? '';
  };
  const endpoint = async () => {
    const [made] = await rows<{ id: string }>(
      `insert into webhook_endpoint (id, created_at, url, types, secret) values ('whe_' || gen_random_uuid(), now(), $1, '{}', $2) returning id`,
      [`https://example.com/${HOSTILE}`, createEncryption([SECRET_KEYS]).encrypt(generateSecret('hmac'))],
    );
    const [sent] = await rows<{ id: string }>(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at, reason)
       values ('whd_' || gen_random_uuid(), now(), $1, 'evt_1', 'team.created', 'failed', now(), $2) returning id`,
      [made?.id, HOSTILE],
    );
    await rows(
      `insert into webhook_attempt (id, created_at, delivery_id, duration_ms, error, answer) values ('wha_' || $1, now(), $1, 1, $2, $2)`,
      [sent?.id, HOSTILE],
    );
    return { endpoint: made?.id ?? '', delivery: sent?.id ?? '' };
  };
  const importRun = async () => {
    const [made] = await rows<{ id: string }>(
      `insert into import_run (id, fingerprint, stage, line, counts, report_bytes, batches, operator_key_id, lines, received_at, created_at, updated_at, failure_detail)
       values ('imp_' || gen_random_uuid(), '', 'account', 1, '{}', 0, 1, gen_random_uuid()::text, 1, now(), now(), now(), $1) returning id`,
      [HOSTILE],
    );
    return made?.id ?? '';
  };
  const email = async () => {
    const [made] = await rows<{ id: string }>(
      `select id::text from graphile_worker.add_job('sendAccountMail', $1::json, job_key := gen_random_uuid()::text,
         run_at := now() + interval '1 hour')`,
      [JSON.stringify({ accountId: owner.id, to: owner.email, kind: 'password_changed' })],
    );
    await rows('update graphile_worker._private_jobs set attempts = 3, last_error = $2 where id = $1', [
      made?.id,
      HOSTILE,
    ]);
    return made?.id ?? '';
  };
  return {
    ...make,
    owner,
    person,
    team,
    role,
    member,
    key,
    template,
    endpoint,
    importRun,
    email,
    operatorKey: async () => (await make.anOperatorKey({ name: HOSTILE })).id,
    client: async () => (await make.anOAuthClient({ name: HOSTILE, confidential: true, owner })).id,
    clientOfOperator: async () => (await make.anOAuthClient({ name: HOSTILE })).id,
    url: database.url,
    async close() {
      await db.close();
      await database.drop();
    },
  };
}
