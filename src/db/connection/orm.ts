import { Migrator } from '@mikro-orm/migrations';
import type { DriverException } from '@mikro-orm/core';
import { type EntityClass, EntitySchema, MikroORM, type Options, PostgreSqlDriver } from '@mikro-orm/postgresql';
import { connectionSettings, type ConnectionOptions } from './connection.ts';
import { keepOnlyIdle } from './idle-releases.ts';
import * as entities from '../../entities/index.ts';

/** The directory of the migrations. */
export const MIGRATIONS = `${import.meta.dirname}/../../../migrations`;

type PoolOptions = {
  poolMax: number;
  /** Timeouts for a connection, for one statement and for the lock that it waits for. Migrations have none. */
  timeouts?: { connectMs: number; statementMs: number; lockMs: number };
};

const isEntity = (value: unknown): value is EntityClass =>
  typeof value === 'function' && EntitySchema.REGISTRY.has(value);

/** Leaves errors of PostgreSQL as they are, so that entities and named statements fail with one type. */
class Driver extends PostgreSqlDriver {
  override convertException(error: Error): DriverException {
    return error as DriverException; // which only copies the members of an error of pg
  }
}

/** The options of the service and of the MikroORM command line (mikro-orm.config.ts). */
export const ormOptions = {
  driver: Driver,
  entities: Object.values<unknown>(entities).filter(isEntity),
  extensions: [Migrator],
  migrations: {
    path: MIGRATIONS,
    emit: 'ts',
    snapshot: false,
    disableForeignKeys: false,
  },
  // Triggers and functions are written by hand in their migration.
  schemaGenerator: {
    ignoreSchema: ['graphile_worker'],
    disableForeignKeys: false,
    ignoreTriggers: true,
    ignoreRoutines: true,
  },
  forceUtcTimezone: true,
} satisfies Options;

/** Opens the ORM of the service. */
export async function openOrm(databaseUrl: string, { poolMax, timeouts }: PoolOptions): Promise<MikroORM> {
  const orm = await MikroORM.init({
    ...ormOptions,
    ...ormConnection(databaseUrl, timeouts && { ...timeouts, pipeline: true }),
    pool: { min: 0, max: poolMax },
    // The pool reports dropped connections here; requests and /readyz report them with more context.
    logger: () => undefined,
  });
  keepOnlyIdle(await orm.em.getConnection().getNativeClient(), timeouts === undefined ? 'migration' : 'writes');
  return orm;
}

/** Returns the options of MikroORM for a database. It does not get the URL, of which it would drop parameters. */
export function ormConnection(databaseUrl: string, options?: ConnectionOptions) {
  const settings = connectionSettings(databaseUrl, options);
  return { dbName: settings.database ?? settings.user ?? 'postgres', driverOptions: settings } satisfies Options;
}
