import { query } from '../db/query.ts';
import type { Services } from './services.ts';
import { demoBanner } from '../demo/banner.ts';
import { seedDemo } from '../demo/seed.ts';

/** Creates the demo data if needed. @returns the banner to print */
export async function firstGreeting(services: Services): Promise<string> {
  if (!(await wantsDemo(services))) return '';
  try {
    return demoBanner(services.config.baseUrl, await seedDemo(services));
  } catch (error) {
    // Another process that started at the same time on this data directory may have created them.
    if (await wantsDemo(services)) throw error;
    return '';
  }
}

const hasNoAccount = query<{ is_empty: boolean }>(
  'account_check_none',
  'select not exists (select from account) as is_empty',
);

/** Demo data is for the first start on an embedded database, while no account exists. */
async function wantsDemo({ config, db }: Services): Promise<boolean> {
  if (!config.seedDemo || config.databaseUrl !== undefined) return false;
  const [row] = await db.query(hasNoAccount, []);
  return row?.is_empty === true;
}
