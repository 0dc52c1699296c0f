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
 * Creates a slug that no team has, with a numeric suffix if needed. Holds an advisory lock until the transaction
 * ends, so that concurrent teams with the same name get different slugs.
 */
export async function createSlug(em: EntityManager, name: string): Promise<string> {
  const base = slugify(name);
  // Names that can get the same slug share this stem: "core", "core-2", "core-2-3" and all truncations of one text.
  const stem = base.slice(0, MAX_LENGTH - 12).replace(/(-\d*)+$/, '');
  await em.execute('select pg_advisory_xact_lock(?, hashtext(?))', [ADVISORY_LOCKS.slug, stem]);

  const [free] = await em.execute<{ slug: string }[]>(
    `select slug from (
       select case n when 1 then ? else rtrim(left(?, ${MAX_LENGTH - 1} - length(n::text)), '-') || '-' || n end as slug
       from (select generate_series(1, 1000000) as n) numbers
     ) candidates
     where not exists (select from team where team.slug = candidates.slug)
     limit 1`,
    [base, base],
  );
  if (free === undefined) throw new Error(`No slug is left for ${base}.`);
  return free.slug;
}
