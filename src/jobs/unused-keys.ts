import { command } from '../db/query.ts';
import type { Change } from '../transactions/steps.ts';
import type { JobHelpers } from 'graphile-worker';
import type { Services } from '../service/services.ts';
import { PRIORITY, type UnusedKey } from './enqueue.ts';
import { notify } from './notify.ts';
import { workInSteps } from './steps.ts';

export const UNUSED_KEYS_TASK = 'end_unused_keys';

/** The maximum number of keys per transaction, each of which can need an email. */
const BATCH_MAX = 200;

/** The keys that one email lists. */
const LISTED_MAX = 20;

type Judged = {
  readonly id: string;
  readonly account_id: string;
  readonly team_id: string | null;
  readonly name: string;
  readonly key_prefix: string;
  readonly last4: string;
  readonly verdict: 'kept' | 'warned' | 'waiting' | 'ended';
  readonly ends_at: string;
};

/**
 * Judges the keys whose next check is due: `warned` two weeks before they end, `ended`, or `kept`. The next check has a
 * column of its own, because an index on the last use would have to follow each use. A key that was never checked is
 * due since its creation. A warning counts only if the key was not used after it.
 */
const judge = command<Judged>(
  'api_key_update_unused',
  `with due as materialized (
    select id, unused_warned_at, coalesce(last_used_at, created_at) as used_at,
      coalesce(last_used_at, created_at) + $1::int * interval '1 day' as unused_at, expires_at <= now() as is_expired
    from api_key where revoked_at is null and coalesce(unused_check_at, created_at) < now()
    order by coalesce(unused_check_at, created_at) limit ${BATCH_MAX} for update skip locked
  ), judged as (
    select id, unused_at, unused_warned_at, is_expired, case
      when is_expired or unused_at > now() + interval '14 days' then 'kept'
      when unused_warned_at is null or unused_warned_at < used_at then 'warned'
      when greatest(unused_at, unused_warned_at + interval '14 days') <= now() then 'ended'
      else 'waiting' end as verdict
    from due
  )
  update api_key k set
    revoked_at = case when verdict = 'ended' then now() end,
    unused_warned_at = case when verdict = 'warned' then now() else k.unused_warned_at end,
    unused_check_at = case
      when is_expired then timestamptz '9999-12-31'
      when verdict = 'kept' then unused_at - interval '14 days'
      else greatest(unused_at, case when verdict = 'warned' then now() else k.unused_warned_at end + interval '14 days')
      end
  from judged j where j.id = k.id
  returning k.id, k.account_id, k.team_id, k.name, k.key_prefix, k.last4, j.verdict, k.unused_check_at as ends_at`,
);

/** Revokes API keys that were not used for `KEY_UNUSED_DAYS`, two weeks after an email about it. */
export async function endUnusedKeys({ config, db }: Services, helpers: JobHelpers): Promise<void> {
  const { keyUnusedDays: days } = config;
  if (days === undefined) return;
  const isDone = await workInSteps(helpers, db, async (tx) => (await runBatch(tx, days)) < BATCH_MAX);
  if (!isDone)
    await helpers.addJob(
      UNUSED_KEYS_TASK,
      {},
      { jobKey: UNUSED_KEYS_TASK, maxAttempts: 1, priority: PRIORITY.cleanup },
    );
}

async function runBatch(tx: Change, days: number): Promise<number> {
  const [keys] = await tx.run([[judge, [days]]]);
  await tx.record(
    'api_key.revoked',
    keys
      .filter(({ verdict }) => verdict === 'ended')
      .map(({ id: keyId, account_id: accountId, team_id: teamId }) => ({ keyId, accountId, teamId, reason: 'unused' })),
  );
  const warned = Map.groupBy(
    keys.filter(({ verdict }) => verdict === 'warned'),
    ({ account_id: accountId }) => accountId,
  );
  for (const [accountId, list] of warned) await warn(tx, accountId, list);
  return keys.length;
}

async function warn(tx: Change, accountId: string, keys: readonly Judged[]): Promise<void> {
  const listed = keys
    .slice(0, LISTED_MAX)
    .map(({ name, key_prefix: keyPrefix, last4, ends_at: endsAt }): UnusedKey => ({
      name,
      keyPrefix,
      last4,
      endsAt: new Date(endsAt).toISOString(),
    }));
  await notify(tx, accountId, {
    kind: 'unused_keys',
    keys: listed,
    number: keys.length,
    at: new Date().toISOString(),
  });
}
