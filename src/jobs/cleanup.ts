import { isoOrNull } from '../db/query.ts';
import { everyMinute, expiredKeys, hourlyAt, remove, type Cleanup } from './cleanup-kinds.ts';
import { openSession } from '../db/predicates.ts';
import { logoutJobs } from './logouts.ts';
import { STEP_ROWS } from './steps.ts';

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
  // Where sign-up is closed, all of them, although they are valid for a day.
  cleanup_sign_ups: everyMinute(({ signup }) =>
    remove({ table: 'sign_up_attempt', key: 'id', ...(signup === 'closed' && { keptFor: '-2 days' }) }),
  ),
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
    {
      event: 'api_key.revoked',
      fieldsOf: ({ id, account_id: accountId = null, team_id: teamId = null }) => [
        { keyId: id ?? '', accountId, teamId, reason: 'its grant ended' },
      ],
    },
  ),
  cleanup_oauth_tokens: hourlyAt(3, remove({ table: 'oauth_token', key: 'token_hash', keptFor: '1 hour' })),
  cleanup_idempotency_keys: hourlyAt(
    6,
    remove({ table: 'idempotency_key', key: 'key_hash', expiry: 'created_at', keptFor: '24 hours' }),
  ),
  // The rows that an import refused, of which it can have as many as its upload had lines.
  cleanup_import_reports: hourlyAt(
    7,
    `delete from import_refusal where (import_id, number) = any(select r.import_id, r.number
       from import_run i join import_refusal r on r.import_id = i.id
       where i.updated_at < now() - interval '30 days' and i.${UPLOADED}
       order by i.updated_at limit ${STEP_ROWS}) returning 1 as removed`,
  ),
  // After their reports. An upload whose process was killed has no job.
  cleanup_imports: hourlyAt(
    8,
    remove({
      table: 'import_run',
      key: 'id',
      expiry: 'updated_at',
      keptFor: '30 days',
      where: `${UPLOADED} and not exists (select from import_refusal r where r.import_id = import_run.id)`,
    }),
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
       returning id, is_dry_run
     ), emptied as (delete from import_content where import_id in (select id from ended))
     select id, is_dry_run::text as is_dry_run from ended`,
    {
      event: 'import.failed',
      fieldsOf: ({ id, is_dry_run: isDryRun }) =>
        isDryRun === 'false' ? [{ importId: id ?? '', reason: 'internal_error' }] : [],
    },
  ),
  cleanup_sent_emails: hourlyAt(
    9,
    remove({ table: 'sent_mail', key: 'id', expiry: 'created_at', keptFor: '25 hours' }),
  ),
  // Tells clients of sessions that expired. Use moves the idle expiry, so each family looks again when the last known one
  // has passed. Clients were told of revoked sessions when those were revoked.
  cleanup_logins: everyMinute(
    `with due as materialized (
        select id, session_id from oauth_token_family where logout_check_at < now()
        order by logout_check_at limit ${STEP_ROWS} for update skip locked
      ), checked as materialized (
        select d.id, s.id as session_id, s.revoked_at, ${openSession('s')} as is_open,
          least(s.expires_at, s.idle_expires_at) as until
        from due d join session s on s.id = d.session_id
      ), told as (
        ${logoutJobs('select session_id as id from checked where not is_open and revoked_at is null')}
      ), moved as (
        update oauth_token_family f set logout_check_at = case when c.is_open then c.until end
        from checked c where f.id = c.id
      )
      select told from due cross join told`,
  ),
  // By the absolute expiry, because each use of a session moves the idle expiry and would have to update its index.
  cleanup_sessions: hourlyAt(
    15,
    remove(
      {
        table: 'session',
        key: 'id',
        expiry: 'least(expires_at, revoked_at)',
        keptFor: '7 days',
        // After its clients were told, also if no worker ran for a week. `offset 0`, because PostgreSQL would read all
        // sessions to join them.
        where: `not exists (
          select from oauth_token_family f where f.session_id = session.id and f.logout_check_at is not null offset 0)`,
      },
      'id, account_id, expires_at, revoked_at',
    ),
    {
      event: 'session.ended',
      fieldsOf: ({ id, account_id: accountId = null, expires_at: expiresAt = null, revoked_at: revokedAt }) =>
        revokedAt === null
          ? [{ sessionId: id ?? '', accountId, expiresAt: isoOrNull(expiresAt), reason: 'expired' }]
          : [],
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
    {
      event: 'oauth_grant.revoked',
      fieldsOf: ({ id, account_id: accountId = null, client_id: clientId, team_id: teamId = null, ...row }) => {
        if (row['revoked_at'] !== null) return [];
        const expiresAt = isoOrNull(row['expires_at'] ?? null);
        return [
          { grantId: id ?? '', accountId, clientId: clientId ?? undefined, teamId, expiresAt, reason: 'expired' },
        ];
      },
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
        order by cleanup_at limit ${STEP_ROWS} for update skip locked
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
    {
      event: 'oauth_client.deleted',
      fieldsOf: ({ id, is_kept: isKept }) =>
        isKept === 'f' ? [{ accountId: null, clientId: id ?? '', reason: 'unused' }] : [],
    },
  ),
  // Pictures that no URL names, because the operator or an import changed it. The others are checked again later.
  cleanup_pictures: hourlyAt(
    48,
    `with due as materialized (
        select name, account_id, team_id from picture where cleanup_at < now()
        order by cleanup_at limit ${STEP_ROWS} for update skip locked
      ), named as (
        select d.name from due d left join account a on a.id = d.account_id left join team t on t.id = d.team_id
        where split_part(coalesce(a.avatar, t.avatar_url), '/pictures/', -1) = d.name || '.webp'
      ), kept as (
        update picture set cleanup_at = now() + interval '7 days' where name = any(array(select name from named)) returning 1
      ), removed as (
        delete from picture where name = any(array(select name from due except select name from named)) returning 1
      )
      select 1 from removed union all select 1 from kept`,
  ),
  // Deletes the oldest events first and stores the last deleted position, from which feeds know that a cursor is too old.
  cleanup_event_payloads: hourlyAt(
    33,
    ({
      eventDays,
    }) => `with first as (select sequence, created_at from event_payload order by sequence limit ${STEP_ROWS}),
         cut as (select max(sequence) as sequence from first where created_at < now() - interval '${eventDays} days'),
         moved as (update audit_head set feed_start = greatest(feed_start, cut.sequence) from cut where cut.sequence > 0)
       delete from event_payload where sequence <= (select sequence from cut) returning 1 as removed`,
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
