import { hasPgBouncer, keepingPgBouncer, startPgBouncer, type PgBouncer } from '../test/support/pgbouncer.ts';
import { measure, type Contender, type Measured } from './measure.ts';
import type { Options } from './options.ts';
import { byKey } from './requests.ts';
import type { Stage } from './stage.ts';

const POOLERS = [
  { name: 'session', mode: 'session', keepsStatements: false },
  { name: 'transaction', mode: 'transaction', keepsStatements: false },
  { name: 'transaction, kept statements', mode: 'transaction', keepsStatements: true },
] as const;

/** Server connections of the pooler. In session mode, each connection of a service, its worker's included, needs one. */
const POOL_SIZE = 40;

/** The same requests to Roster directly and through PgBouncer in each mode, on one database. */
export async function comparePoolers(stage: Stage, options: Options): Promise<Measured[]> {
  if (!hasPgBouncer) throw new Error('pgbouncer is needed.');
  const { callers } = await stage.fillDatabase('roster', options.data);
  const { databaseUrl } = stage.backingOf('roster');
  const direct = await stage.start('roster', 'roster', { DATABASE_POOLER: 'none' });
  const contenders: Contender[] = [{ name: 'direct', servers: [direct], callers, dialect: byKey }];
  const bouncers: PgBouncer[] = [];
  try {
    for (const { name, mode, keepsStatements } of POOLERS) {
      if (keepsStatements && keepingPgBouncer === undefined) continue;
      const bouncer = await startPgBouncer(databaseUrl, { mode, size: POOL_SIZE, keepsStatements });
      bouncers.push(bouncer);
      const settings = { DATABASE_URL: bouncer.url, DATABASE_POOLER: mode };
      const server = await stage.start('roster', 'roster', settings);
      contenders.push({ name: `PgBouncer, ${name}`, servers: [server], callers, dialect: byKey });
    }
    const measured: Measured[] = [];
    for (const request of options.only) measured.push(...(await measure(stage, request, contenders, options)));
    return measured;
  } finally {
    await Promise.all(bouncers.map((bouncer) => bouncer.stop()));
  }
}
