import { defineConfig } from '@mikro-orm/postgresql';
import { ormConnection, ormOptions } from './src/db/connection/orm.ts';

/**
 * Configures the MikroORM command line, with the options of the service: `npm run mikro-orm -- migration:check`.
 * An instance is migrated by `roster migrate` instead, which locks out other replicas and migrates the job queue too.
 */
// eslint-disable-next-line import/no-default-export -- the command line imports the default export
export default defineConfig({ ...ormOptions, ...ormConnection(process.env['DATABASE_URL'] ?? 'postgres:///') });
