import type { JobHelpers } from 'graphile-worker';
import type { Services } from '../service/services.ts';
import { readVerifiable } from '../crypto/password-hash.ts';
import { command, query } from '../db/query.ts';
import { withRests } from '../db/turns/rest.ts';
import { change } from '../transactions/change.ts';

export const COUNT_SCHEMES_TASK = 'count_password_schemes';

/** Reading so many takes a few milliseconds. */
const PAGE_ROWS = 1000;

/** Every sign-in at an unknown address reads all schemes. Beyond so many, each has hardly an account. */
const SCHEMES_MAX = 50;

// An import makes the counts old.
const freshCounts = query<{ is_fresh: boolean | null }>(
  'password_scheme_check_fresh',
  `select min(updated_at) > now() - interval '1 hour' as is_fresh from password_scheme`,
);

type Page = { sample: string | null; accounts: number; last: string };

/** Groups a page of accounts by the text up to the salt. PBKDF2 also takes longer for longer hashes. */
const schemePage = query<Page>(
  'account_count_schemes',
  `with page as (select id, password_hash as hash from account where id > $1 order by id limit ${PAGE_ROWS})
   select min(hash) as sample, count(*)::int as accounts, max(id) as last
   from page
   group by case when hash like '$2%' then left(hash, 7) else regexp_replace(hash, '\\$[^$]*\\$[^$]*$', '') end, length(hash)`,
  { rows: 'many' },
);

/**
 * Counts how many accounts have a password of each scheme, once an hour and after imports. Sign-ins at unknown addresses
 * are distributed like that (`chooseScheme`).
 */
export const countSchemes = (services: Services, helpers: Partial<Pick<JobHelpers, 'abortSignal'>>): Promise<void> =>
  withRests((rest) => countInPages(services, helpers, rest));

async function countInPages(
  services: Services,
  { abortSignal }: Partial<Pick<JobHelpers, 'abortSignal'>>,
  rest: () => Promise<void>,
): Promise<void> {
  const { db } = services;
  const [counts] = await db.query(freshCounts, []);
  if (counts?.is_fresh === true) return;
  const found = new Map<string, { scheme: string; work: number; accounts: number }>();
  for (let after: string | undefined = ''; after !== undefined;) {
    if (abortSignal?.aborted === true) return;
    const groups: Page[] = await db.query(schemePage, [after]);
    await rest();
    for (const { sample, accounts } of groups) {
      const hash = sample === null ? null : readVerifiable(sample);
      if (hash === null) continue;
      const { scheme, work } = hash;
      found.set(scheme, { scheme, work, accounts: accounts + (found.get(scheme)?.accounts ?? 0) });
    }
    after = groups
      .map(({ last }) => last)
      .sort()
      .at(-1);
  }
  await store(services, [...found.values()].toSorted((a, b) => b.accounts - a.accounts).slice(0, SCHEMES_MAX));
}

const store = ({ db }: Services, schemes: readonly object[]): Promise<void> =>
  change(db, 'system', { on: 'installation', requires: 'nothing' }, ({ later }) =>
    later([storeCounts, [JSON.stringify(schemes)]]),
  );

const storeCounts = command<never>(
  'password_scheme_upsert',
  `with counted as (select * from json_to_recordset($1::json) as c (scheme text, work bigint, accounts int)),
   gone as (delete from password_scheme where kind not in (select scheme from counted))
   insert into password_scheme (kind, scheme, work, accounts, updated_at)
   select scheme, scheme, work, accounts, now() from counted order by scheme
   on conflict (kind) do update set accounts = excluded.accounts, work = excluded.work, updated_at = now()`,
);
