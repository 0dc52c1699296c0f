import { createHmac } from 'node:crypto';
import { readConfig } from '../../src/config/config.ts';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { openDatabase } from '../../src/db/database.ts';
import { newId } from '../../src/entities/index.ts';
import { COLUMNS } from '../../src/events/chain/event-columns.ts';
import { eventKeys } from '../../src/events/chain/event-mac.ts';
import { startSequencer } from '../../src/events/sequencer.ts';
import { emitRecorded } from '../../src/events/wake.ts';

// The writes of the hand-written service with the guarantees of Roster's, in the tightest way that we know: one call of
// a function, each statement of which has its own snapshot. It locks what Roster locks, and then reads key, membership
// and role, changes, and inserts the event with its MAC. Its process numbers and chains the events as Roster does.

const TYPES = { occurred_at: 'timestamptz', details: 'jsonb', count: 'int', mac: 'bytea' };
const EVENT = [...COLUMNS, 'mac'];

/** What is locked first. `$1` is the hash of the secret and `$2` the team. */
const LOCKS = {
  team: 'perform from team where id = $2 for update',
  account: `perform from account where id =
    (select k.account_id from api_key_secret s join api_key k on k.id = s.api_key_id where s.secret_hash = $1) for update`,
};

/** Makes a function of a statement of which `$1` is the hash of the secret. */
async function createFunction(pool, { name, text }, { lock, types, event }) {
  const first = types.length + 1;
  const params = [...types, ...EVENT.map((column) => TYPES[column] ?? 'text')];
  const values = EVENT.map((_, i) => `$${first + i}`).join(', ');
  await pool.query(`create or replace function bench_${name}(${params.join(', ')}) returns json language plpgsql as $f$
    declare changed record;
    begin
      ${LOCKS[lock]};
      ${text} into changed;
      if not found then return null; end if;
      insert into audit_event (${EVENT.join(', ')}) values (${values});
      return to_json(changed);
    end $f$`);
  const placeholders = params.map((_, i) => `$${i + 1}`).join(', ');
  return { name: `guarded_${name}`, text: `select bench_${name}(${placeholders}) as changed`, event };
}

const CALLER = {
  name: 'caller',
  text: `select k.id, k.account_id from api_key_secret s join api_key k on k.id = s.api_key_id where s.secret_hash = $1`,
};

/** @param statements those of the hand-written service by name */
export async function createGuardedWrites(pool, statements) {
  const encryption = createEncryption([process.env.SECRET_KEYS]);
  const [key] = eventKeys(encryption);
  const db = await openDatabase(process.env.DATABASE_URL, 3);
  startSequencer({ db, encryption, config: readConfig(process.env) }, console);
  const team = (event, ...types) => ({ lock: 'team', event, types: ['bytea', 'text', ...types] });
  const guards = {
    rename: team('team.renamed', 'text'),
    invite: team('invitation.renewed', 'text', 'text', 'bytea', 'text'),
    remove: team('member.removed', 'text'),
    create_key: {
      lock: 'account',
      event: 'api_key.created',
      types: ['bytea', 'text', 'text', 'text[]', 'text', 'text', 'bytea'],
    },
  };
  const functions = {};
  for (const statement of statements)
    functions[statement.name] = await createFunction(pool, statement, guards[statement.name]);

  /** Finds the caller, whom the event names. */
  const findCaller = async (secretHash) => (await pool.query({ ...CALLER, values: [secretHash] })).rows[0];

  /** @param target what the event names, and whom; for an invitation that is renewed, the id that a new one would have */
  const write = async (
    { name },
    caller,
    values,
    { teamId = null, accountId = null, targetId = null, details = {} },
    req,
  ) => {
    const { event, ...statement } = functions[name];
    const recorded = [
      newId('evt'),
      new Date().toISOString(),
      event,
      'api-key',
      caller.account_id,
      caller.id,
      null,
      teamId,
      accountId ?? caller.account_id,
      targetId,
      req.ip,
      req.id,
      details,
      1,
    ];
    const mac = createHmac('sha256', key).update(JSON.stringify(recorded)).digest();
    const { rows } = await pool.query({ ...statement, values: [...values, ...recorded, mac] });
    if (rows[0].changed === null) return undefined;
    emitRecorded(db.orm.em);
    req.log.info({ event, teamId, targetId, actorId: caller.account_id }, 'audit');
    return rows[0].changed;
  };
  return { findCaller, write };
}
