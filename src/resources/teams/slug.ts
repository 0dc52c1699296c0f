import { randomInt } from 'node:crypto';
import anyAscii from 'any-ascii';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';
import type { OpenSteps } from '../../db/pipeline/open-transaction.ts';
import { command, query, type RowsOf } from '../../db/query.ts';

const MAX_LENGTH = 60;

/** Converts a name to lower-case ASCII words joined by `-`, at most 60 characters. @returns `team` if none is left */
export function slugify(name: string): string {
  const words = anyAscii(name.normalize('NFC'))
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join('-').slice(0, MAX_LENGTH).replace(/-+$/, '') || 'team';
}

const claimSlugs = command<{ slug: string; is_claimed: boolean }>(
  'team_lock_slugs',
  `select slug, pg_try_advisory_xact_lock($1, hashtext(slug)) as is_claimed
   from (select distinct slug from unnest(string_to_array($2, ' ')) slug) slugs`,
);

const takenSlugs = query<{ slug: string }>(
  'team_list_of_slugs',
  `select slug from team where slug = any(string_to_array($1, ' '))`,
);

/**
 * Creates a slug for each of many texts, with a random suffix if the first choice is taken. Claims them like
 * `claimSlugSteps`.
 */
export async function createSlugs({ run }: Pick<OpenSteps, 'run'>, names: readonly string[]): Promise<string[]> {
  const bases = names.map(slugify);
  const [claimed, rows] = await run([
    [claimSlugs, [ADVISORY_LOCKS.slug, bases.join(' ')]],
    [takenSlugs, [bases.join(' ')]],
  ]);
  const taken = new Set([...claimed.filter(({ is_claimed: is }) => !is), ...rows].map(({ slug }) => slug));
  return bases.map((base) => {
    const slug = taken.has(base) ? `${base.slice(0, MAX_LENGTH - 11)}-${randomInt(1e9, 1e10)}` : base;
    taken.add(slug);
    return slug;
  });
}

/**
 * Searches a slug that no team has, with a numeric suffix if needed, and claims it by an advisory lock until the transaction
 * ends. Does not wait for concurrent transactions, which can take long to commit: it passes over what they have claimed.
 */
export function claimSlugSteps(name: string, taken = 0) {
  const base = slugify(name);
  return [
    [claimFreeSlug, [ADVISORY_LOCKS.slug, taken, taken + 1, base]],
    [teamsWithSlug, [base]],
  ] as const;
}

const teamsWithSlug = query<object>('team_check_slug', 'select from team where slug = $1');

/** Returns the slug that `claimSlugSteps` claimed, or else claims another one. */
export async function claimSlug(
  change: OpenSteps,
  name: string,
  [[free], ofBase]: RowsOf<ReturnType<typeof claimSlugSteps>>,
): Promise<string> {
  const base = slugify(name);
  if (free === undefined) throw new Error(`No slug is left for ${base}.`);
  if (free.is_claimed) {
    // Whoever held the lock before may have committed after the search began.
    const [taken] = free.slug === base ? [ofBase] : await change.run([[teamsWithSlug, [free.slug]]]);
    if (taken.length === 0) return free.slug;
  }
  return claimSlug(change, name, await change.run(claimSlugSteps(name, free.n)));
}

const candidate = (n: string): string =>
  `case ${n} when 1 then $4::text else rtrim(left($4, ${MAX_LENGTH - 1} - length(${n}::text)), '-') || '-' || ${n} end`;

/**
 * Doubles the number until it is free, and then bisects, so that a name with many teams costs a few look-ups by
 * index. The result is free also if the numbers have gaps. `offset 0` keeps each look-up from being repeated.
 */
const claimFreeSlug = command<{ slug: string; n: number; is_claimed: boolean }>(
  'team_claim_slug',
  `select slug, n, pg_try_advisory_xact_lock($1, hashtext(slug)) as is_claimed from (
  with recursive search (taken, free, n) as (
    select $2::int, null::int, $3::int
    union all
    select case when is_taken then n else taken end, case when is_taken then free else n end,
      case when not is_taken then (taken + n) / 2 when free is null then n * 2 else (n + free) / 2 end
    from search
    cross join lateral (select exists (select from team where slug = ${candidate('n')}) as is_taken offset 0) probe
    where (free is null or free - taken > 1) and n < 1000000000
  )
  select ${candidate('free')} as slug, free as n from search where free - taken = 1 limit 1
) found`,
);
