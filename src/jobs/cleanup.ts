import type { EntityManager } from '@mikro-orm/postgresql';
import type { Config } from '../config.ts';
import { isoOrNull } from '../db/query.ts';
import { record } from '../events/record.ts';

/** The maximum number of rows per statement. */
export const BATCH_MAX = 1000;

/** A row that a cleanup removed or revoked, with the columns that its `returning` names. */
export type CleanupRow = Record<string, string | null>;

/** Records an event for a row, if removing it ends access that was not revoked before. */
type RecordEvent = (tx: EntityManager, row: CleanupRow) => void;

/** Deletes or revokes one kind of expired rows, in batches, as a job of its own. */
export type Cleanup = {
  /** The schedule, in crontab syntax. */
  readonly schedule: string;
  /** One batch: finds at most `BATCH_MAX` rows by an index on their expiry, and returns one row for each. */
  readonly batch: (config: Config) => string;
  readonly recordEvent?: RecordEvent;
};

/** Creates a cleanup of rows that must be deleted as soon as they expire. */
const everyMinute = (batch: string | Cleanup['batch'], recordEvent?: RecordEvent): Cleanup => ({
  schedule: '* * * * *',
  batch: typeof batch === 'string' ? () => batch : batch,
  ...(recordEvent && { recordEvent }),
});

/** Creates an hourly cleanup. The minutes differ, so that they do not run at the same time. */
const hourlyAt = (minute: number, batch: string, recordEvent?: RecordEvent): Cleanup => ({
  ...everyMinute(batch, recordEvent),
  schedule: `${minute} * * * *`,
});

type Rows = {
  readonly table: string;
  readonly key: string;
  /** The indexed expression, as the index spells it. `expires_at` if omitted. */
  readonly expiry?: string;
  /** The grace period of expired rows. */
  readonly keptFor?: string;
  /** The predicate of a partial index. */
  readonly where?: string;
};

/** The keys of the rows that expired first. Rows that a transaction has locked are left for the next run. */
const expiredKeys = ({ table, key, expiry = 'expires_at', keptFor = '0', where = 'true' }: Rows): string =>
  `array(select ${key} from ${table} where ${expiry} < now() - interval '${keptFor}' and ${where}
     order by ${expiry} limit ${BATCH_MAX} for update skip locked)`;

const remove = (rows: Rows, returning = '1 as removed'): string =>
  `delete from ${rows.table} where ${rows.key} = any(${expiredKeys(rows)}) returning ${returning}`;

const UPLOADED = 'operator_key_id is not null';

const selfRegistered = `source in ('registration', 'document')`;

/** All cleanups by the name of their task. A new one needs an index on its expiry expression. */
export const CLEANUPS = {
  // Encrypted tokens and one-time states are deleted as soon as they expire.
  cleanup_refresh_answers: everyMinute(({ oauth }) =>
    remove({
      table: 'oauth_refresh_answer',
      key: 'token_hash',
      expiry: 'created_at',
      keptFor: `${oauth.refreshRepeatSeconds} seconds`,
    }),
  ),
  cleanup_email_links: everyMinute(remove({ table: 'account_token', key: 'token_hash' })),
  cleanup_sign_ups: everyMinute(remove({ table: 'sign_up_attempt', key: 'id' })),
  cleanup_passkey_challenges: everyMinute(remove({ table: 'passkey_challenge', key: 'id' })),
  cleanup_authorization_requests: everyMinute(remove({ table: 'authorization_request', key: 'id_hash' })),
  cleanup_oauth_artifacts: everyMinute(remove({ table: 'oauth_artifact', key: 'key_hash' })),
  cleanup_api_key_secrets: everyMinute(remove({ table: 'api_key_secret', key: 'secret_hash' })),
  cleanup_operator_key_secrets: everyMinute(remove({ table: 'operator_key_secret', key: 'secret_hash' })),
  cleanup_client_secrets: everyMinute(remove({ table: 'oauth_client_secret', key: 'secret_hash' })),
  // A key expires with its grant at the latest. Revoking it removes it from the lists of keys.
  cleanup_grant_keys: everyMinute(
    `update api_key set revoked_at = now()
      where id = any(${expiredKeys({
        table: 'api_key',
        key: 'id',
        where: `oauth_grant_id is not null and revoked_at is null
          and exists (select from oauth_grant g where g.id = oauth_grant_id and g.expires_at < now())`,
      })})
      returning id, account_id, team_id`,
    (tx, { id, account_id: accountId = null, team_id: teamId = null }) =>
      record(tx, 'api_key.revoked', { keyId: id ?? '', accountId, teamId, reason: 'its grant ended' }),
  ),
  cleanup_oauth_tokens: hourlyAt(3, remove({ table: 'oauth_token', key: 'token_hash', keptFor: '1 hour' })),
  cleanup_idempotency_keys: hourlyAt(
    6,
    remove({ table: 'idempotency_key', key: 'key_hash', expiry: 'created_at', keptFor: '24 hours' }),
  ),
  // With their reports. An upload whose process was killed has no job.
  cleanup_imports: hourlyAt(
    8,
    remove({ table: 'import_run', key: 'id', expiry: 'updated_at', keptFor: '30 days', where: UPLOADED }),
  ),
  cleanup_broken_uploads: hourlyAt(
    18,
    remove({
      table: 'import_run',
      key: 'id',
      expiry: 'updated_at',
      keptFor: '1 hour',
      where: `${UPLOADED} and received_at is null`,
    }),
  ),
  // After the last attempt of the job, if it could not note that itself.
  cleanup_stalled_imports: hourlyAt(
    28,
    `with ended as (
       update import_run set finished_at = now(), failure = 'internal_error'
       where id = any(${expiredKeys({
         table: 'import_run',
         key: 'id',
         expiry: 'updated_at',
         keptFor: '2 days',
         where: `${UPLOADED} and finished_at is null`,
       })})
       returning id
     ), emptied as (delete from import_content where import_id in (select id from ended))
     select id from ended`,
  ),
  cleanup_sent_emails: hourlyAt(
    9,
    remove({ table: 'sent_mail', key: 'id', expiry: 'created_at', keptFor: '25 hours' }),
  ),
  // By the absolute expiry, because each use of a session moves the idle expiry and would have to update its index.
  cleanup_sessions: hourlyAt(
    15,
    remove(
      { table: 'session', key: 'id', expiry: 'least(expires_at, revoked_at)', keptFor: '7 days' },
      'id, account_id, expires_at, revoked_at',
    ),
    (tx, { id, account_id: accountId = null, expires_at: expiresAt = null, revoked_at: revokedAt }) => {
      if (revokedAt !== null) return;
      const fields = { sessionId: id ?? '', accountId, expiresAt: isoOrNull(expiresAt), reason: 'expired' };
      record(tx, 'session.ended', fields);
    },
  ),
  // Invitations contain email addresses.
  cleanup_invitations: hourlyAt(
    21,
    remove({ table: 'invitation', key: 'id', expiry: 'least(expires_at, accepted_at)', keptFor: '30 days' }),
  ),
  cleanup_grants: hourlyAt(
    27,
    remove(
      { table: 'oauth_grant', key: 'id', expiry: 'least(expires_at, revoked_at)', keptFor: '30 days' },
      'id, account_id, client_id, team_id, expires_at, revoked_at',
    ),
    (tx, { id, account_id: accountId = null, client_id: clientId, team_id: teamId = null, ...row }) => {
      if (row['revoked_at'] !== null) return;
      record(tx, 'oauth_grant.revoked', {
        grantId: id ?? '',
        accountId,
        clientId: clientId ?? undefined,
        teamId,
        expiresAt: isoOrNull(row['expires_at'] ?? null),
        reason: 'expired',
      });
    },
  ),
  cleanup_api_key_uses: hourlyAt(51, remove({ table: 'api_key_use', key: 'ctid', expiry: 'day', keptFor: '90 days' })),
  cleanup_webhook_deliveries: hourlyAt(
    30,
    remove({ table: 'webhook_delivery', key: 'id', expiry: 'created_at', keptFor: '30 days' }),
  ),
  cleanup_known_devices: hourlyAt(
    33,
    remove({ table: 'known_device', key: 'id', expiry: 'last_seen_at', keptFor: '365 days' }),
  ),
  // Self-registered clients without a grant. Those with one are checked again 30 days later.
  cleanup_oauth_clients: hourlyAt(
    39,
    `with due as materialized (
        select id from oauth_client where cleanup_at < now() and ${selfRegistered}
        order by cleanup_at limit ${BATCH_MAX} for update skip locked
      ), kept as (
        update oauth_client c set cleanup_at = now() + interval '30 days'
        where id = any(array(select id from due)) and exists (select from oauth_grant g where g.client_id = c.id)
        returning id
      ), removed as (
        delete from oauth_client c
        where id = any(array(select id from due)) and not exists (select from oauth_grant g where g.client_id = c.id)
        returning id
      )
      select id, 'f' as is_kept from removed union all select id, 't' from kept`,
    (tx, { id, is_kept: isKept }) => {
      if (isKept === 'f') record(tx, 'oauth_client.deleted', { accountId: null, clientId: id ?? '', reason: 'unused' });
    },
  ),
  // Pictures that no URL names, because the operator or an import changed it. The others are checked again later.
  cleanup_pictures: hourlyAt(
    48,
    `with due as materialized (
        select name, account_id, team_id from picture where cleanup_at < now()
        order by cleanup_at limit ${BATCH_MAX} for update skip locked
      ), named as (
        select d.name from due d left join account a on a.id = d.account_id left join team t on t.id = d.team_id
        where split_part(coalesce(a.avatar, t.avatar_url), '/pictures/', -1) = d.name || '.webp'
      ), kept as (
        update picture set cleanup_at = now() + interval '7 days' where name in (select name from named) returning 1
      ), removed as (
        delete from picture where name in (select name from due except select name from named) returning 1
      )
      select 1 from removed union all select 1 from kept`,
  ),
  // Deletes the oldest events first and stores the last deleted position, from which feeds know that a cursor is too old.
  cleanup_event_payloads: {
    ...everyMinute(
      ({
        eventDays,
      }) => `with first as (select sequence, created_at from event_payload order by sequence limit ${BATCH_MAX}),
         cut as (select max(sequence) as sequence from first where created_at < now() - interval '${eventDays} days'),
         moved as (update audit_head set feed_start = greatest(feed_start, cut.sequence) from cut where cut.sequence > 0)
       delete from event_payload where sequence <= (select sequence from cut) returning 1 as removed`,
    ),
    schedule: '33 * * * *',
  },
  // Sign-ins no longer have to take as long as a kind of hashes of which none is left. That of Argon2id is not known.
  cleanup_password_schemes: hourlyAt(
    57,
    `delete from password_scheme
     where updated_at < now() - interval '1 day' and kind <> 'argon2id' and (
       select true from account where split_part(password_hash, '$', 2) = kind and password_hash not like '$argon2id$%'
       limit 1) is null
     returning 1 as removed`,
  ),
  // Consents without an exchanged code.
  cleanup_pending_consents: hourlyAt(
    45,
    remove({
      table: 'oauth_token_family',
      key: 'id',
      expiry: 'created_at',
      keptFor: '1 hour',
      where: 'grant_id is null',
    }),
  ),
} satisfies Readonly<Record<string, Cleanup>>;
