import PostalMime from 'postal-mime';
import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';

type Written = { readonly attempted: Set<string>; readonly acknowledged: Set<string> };

export type Ledger = ReturnType<typeof createLedger>;

/** What was asked for and what was acknowledged, by names that are used once. */
export function createLedger() {
  const written = (): Written => ({ attempted: new Set(), acknowledged: new Set() });
  const renamed = new Map<string, Names>();
  return {
    teams: written(),
    invitations: written(),
    keys: written(),
    revokedKeys: new Set<string>(),
    renamed,
    names(teamId: string, name: string): Names {
      const names = namesOf(name);
      renamed.set(teamId, names);
      return names;
    },
  };
}

type Names = ReturnType<typeof namesOf>;

/** The names that something can have: the last acknowledged one, or one that was asked for since. */
function namesOf(first: string) {
  let possible = new Set([first]);
  return {
    attempt: (name: string) => void possible.add(name),
    acknowledge: (name: string) => void (possible = new Set([name])),
    mayBe: (name: string): boolean => possible.has(name),
  };
}

export type Findings = { lost: string[]; duplicated: string[]; torn: string[] };

/** Compares the database with the ledger: what was acknowledged is there, once, whole; what was not is there at most once. */
export async function audit({ rows }: Cluster, ledger: Ledger): Promise<Findings> {
  const [teams, invitations, keys, named] = await Promise.all([
    rows<Found>(`select t.name, exists (
        select from membership m where m.team_id = t.id and m.role_id = 'owner' and m.is_active
      ) as whole from team t`),
    rows<Found>(`select i.email as name, exists (
        select from invitation_link l where l.invitation_id = i.id
      ) as whole from invitation i`),
    rows<Found & { revoked: boolean }>(`select k.name, k.revoked_at is not null as revoked, exists (
        select from api_key_secret s where s.api_key_id = k.id
      ) as whole from api_key k`),
    rows<{ id: string; name: string }>('select id, name from team where id = any($1)', [[...ledger.renamed.keys()]]),
  ]);
  const revoked = new Set(keys.filter((key) => key.revoked).map(({ name }) => name));
  const findings = [compare(ledger.teams, teams), compare(ledger.invitations, invitations), compare(ledger.keys, keys)];
  return {
    lost: [
      ...findings.flatMap(({ lost }) => lost),
      ...[...ledger.revokedKeys].filter((name) => !revoked.has(name)),
      ...named.filter(({ id, name }) => ledger.renamed.get(id)?.mayBe(name) !== true).map(({ name }) => name),
    ],
    duplicated: findings.flatMap(({ duplicated }) => duplicated),
    torn: findings.flatMap(({ torn }) => torn),
  };
}

type Found = { name: string; whole: boolean };

function compare({ attempted, acknowledged }: Written, found: readonly Found[]): Findings {
  const ours = found.filter(({ name }) => attempted.has(name));
  const names = ours.map(({ name }) => name);
  const once = new Set(names);
  return {
    lost: [...acknowledged].filter((name) => !once.has(name)),
    duplicated: names.filter((name, at) => names.indexOf(name) !== at),
    torn: ours.filter(({ whole }) => !whole).map(({ name }) => name),
  };
}

const MAILS_MS_MAX = 30_000;
const RUN_NOW = `with due as (update graphile_worker._private_jobs set run_at = now() where locked_at is null)
  select pg_notify('jobs:insert', '{"count":8}')`;

/** Waits until all mails have left, where none has to wait for its time. */
export const mailsLeave = (cluster: Cluster): Promise<void> => leaveBy(cluster, []);

/** The same after workers were cut off: as if the minutes had passed after which their jobs are free again. */
export const mailsOfCutOffLeave = (cluster: Cluster): Promise<void> =>
  leaveBy(cluster, [
    `update graphile_worker._private_jobs set locked_at = now() - interval '16 minutes'
     where locked_at < now() - interval '2 seconds'`,
    `select graphile_worker.add_job('recover_jobs', job_key := 'recover_jobs')`,
  ]);

async function leaveBy({ rows }: Cluster, means: readonly string[]): Promise<void> {
  const look = async () => {
    for (const sql of [...means, RUN_NOW]) await rows(sql);
    return rows(
      `select id, attempts, locked_at, last_error from graphile_worker.jobs where task_identifier in ('sendInvitation', 'sendAccountMail')`,
    );
  };
  await expect.poll(look, { interval: 200, timeout: MAILS_MS_MAX }).toEqual([]);
}

export type Mails = { missing: string[]; repeated: string[]; stray: string[] };

/** Each invitation that is there, acknowledged or not, has its mail; no other has one. */
export async function auditMails({ mail, rows }: Cluster, { invitations }: Ledger): Promise<Mails> {
  const sent = await Promise.all(mail.mails.map(async (raw) => (await PostalMime.parse(raw)).to?.[0]?.address ?? ''));
  const ours = sent.filter((address) => invitations.attempted.has(address));
  const once = new Set(ours);
  const there = new Set((await rows<{ email: string }>('select email from invitation')).map(({ email }) => email));
  return {
    missing: [...invitations.attempted].filter((address) => there.has(address) && !once.has(address)),
    repeated: ours.filter((address, at) => ours.indexOf(address) !== at),
    stray: ours.filter((address) => !there.has(address)),
  };
}
