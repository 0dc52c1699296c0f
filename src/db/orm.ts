import { Migrator } from '@mikro-orm/migrations';
import { type EntityClass, EntitySchema, MikroORM, type Options } from '@mikro-orm/postgresql';
import * as entities from '../entities/index.ts';

/** The directory of the migrations. */
export const MIGRATIONS = `${import.meta.dirname}/../../migrations`;

type PoolOptions = {
  poolMax: number;
  /** Timeouts for a connection and for one statement. Migrations have none. */
  timeouts?: { connectMs: number; statementMs: number };
};

const isEntity = (value: unknown): value is EntityClass =>
  typeof value === 'function' && EntitySchema.REGISTRY.has(value);

/** The options of the service and of the MikroORM command line (mikro-orm.config.ts). */
export const ormOptions = {
  entities: Object.values<unknown>(entities).filter(isEntity),
  extensions: [Migrator],
  migrations: {
    path: MIGRATIONS,
    emit: 'ts',
    snapshot: false,
    disableForeignKeys: false,
  },
  // Triggers are written by hand in their migration.
  schemaGenerator: { ignoreSchema: ['graphile_worker'], disableForeignKeys: false, ignoreTriggers: true },
  forceUtcTimezone: true,
} satisfies Options;

/** Opens the ORM of the service. */
export function openOrm(databaseUrl: string, { poolMax, timeouts }: PoolOptions): Promise<MikroORM> {
  return MikroORM.init({
    ...ormOptions,
    clientUrl: databaseUrl,
    pool: { min: 0, max: poolMax },
    driverOptions: timeouts
      ? {
          connectionTimeoutMillis: timeouts.connectMs,
          statement_timeout: timeouts.statementMs,
          query_timeout: timeouts.statementMs + 1000,
          // Lets pipelined queries share a round trip (query.ts).
          pipeline: true,
        }
      : {},
    // The pool reports dropped connections here; requests and /readyz report them with more context.
    logger: () => undefined,
  });
}
