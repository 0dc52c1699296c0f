import { randomInt } from 'node:crypto';
import anyAscii from 'any-ascii';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ADVISORY_LOCKS } from '../../db/advisory-locks.ts';

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

/**
 * Locks slugs, and all that a suffix turns them into, until the transaction ends. Names that can get the same slug share
 * a stem: "core", "core-2", "core-2-3" and all truncations of one text.
 */
async function lockSlugs(em: EntityManager, bases: readonly string[]): Promise<void> {
  const stems = bases.map((base) => base.slice(0, MAX_LENGTH - 12).replace(/(-\d*)+$/, ''));
  await em.execute(
    `select pg_advisory_xact_lock(?, stem) from
       (select distinct hashtext(stem) as stem from unnest(string_to_array(?, ' ')) stem order by 1) stems`,
    [ADVISORY_LOCKS.slug, stems.join(' ')],
  );
}

/** Creates a slug for each of many texts, with a random suffix if the first choice is taken. Locks them like `createSlug`. */
export async function createSlugs(em: EntityManager, names: readonly string[]): Promise<string[]> {
  const bases = names.map(slugify);
  await lockSlugs(em, bases);
  const rows = await em.execute<{ slug: string }[]>(`select slug from team where slug = any(string_to_array(?, ' '))`, [
    bases.join(' '),
  ]);
  const taken = new Set(rows.map(({ slug }) => slug));
  return bases.map((base) => {
    const slug = taken.has(base) ? `${base.slice(0, MAX_LENGTH - 11)}-${randomInt(1e9, 1e10)}` : base;
    taken.add(slug);
    return slug;
  });
}

/**
 * Creates a slug that no team has, with a numeric suffix if needed. Holds an advisory lock until the transaction
 * ends, so that concurrent teams with the same name get different slugs.
 */
export async function createSlug(em: EntityManager, name: string): Promise<string> {
  const base = slugify(name);
  await lockSlugs(em, [base]);

  const [free] = await em.execute<{ slug: string }[]>(FIND_FREE_SLUG, [base, base, base, base]);
  if (free === undefined) throw new Error(`No slug is left for ${base}.`);
  return free.slug;
}

const candidate = (n: string): string =>
  `case ${n} when 1 then ?::text else rtrim(left(?, ${MAX_LENGTH - 1} - length(${n}::text)), '-') || '-' || ${n} end`;

/**
 * Doubles the number until it is free, and then bisects, so that a name with many teams costs a few look-ups by
 * index. The result is free also if the numbers have gaps. `offset 0` keeps each look-up from being repeated.
 */
const FIND_FREE_SLUG = `with recursive search (taken, free, n) as (
    select 0, null::int, 1
    union all
    select case when is_taken then n else taken end, case when is_taken then free else n end,
      case when not is_taken then (taken + n) / 2 when free is null then n * 2 else (n + free) / 2 end
    from search
    cross join lateral (select exists (select from team where slug = ${candidate('n')}) as is_taken offset 0) probe
    where (free is null or free - taken > 1) and n < 1000000000
  )
  select ${candidate('free')} as slug from search where free - taken = 1 limit 1`;
