import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import {
  Account,
  AccountToken,
  ApiKey,
  ApiKeySecret,
  AuditCheckpoint,
  AuditEvent,
  AuditLink,
  AuditPending,
  AuthorizationRequest,
  Invitation,
  InvitationLink,
  KnownDevice,
  Membership,
  OAuthArtifact,
  OAuthClient,
  OAuthClientSecret,
  OAuthGrant,
  OAuthRefreshAnswer,
  OAuthToken,
  OwnershipTransfer,
  Passkey,
  PasskeyChallenge,
  Role,
  SentMail,
  Session,
  Subscription,
  Team,
} from '../entities/index.ts';

const ENTITIES = [
  Account,
  AccountToken,
  ApiKey,
  ApiKeySecret,
  AuditCheckpoint,
  AuditEvent,
  AuditLink,
  AuditPending,
  AuthorizationRequest,
  Invitation,
  InvitationLink,
  KnownDevice,
  Membership,
  OAuthArtifact,
  OAuthClient,
  OAuthClientSecret,
  OAuthGrant,
  OAuthRefreshAnswer,
  OAuthToken,
  OwnershipTransfer,
  Passkey,
  PasskeyChallenge,
  Role,
  SentMail,
  Session,
  Subscription,
  Team,
];

/** Where the migrations are. */
export const MIGRATIONS = `${import.meta.dirname}/../../migrations`;

type PoolOptions = {
  poolMax: number;
  /** Bounds on the wait for a connection and for one statement; none while migrating. */
  timeouts?: { connectMs: number; statementMs: number };
};

/** The one place that knows how the ORM is set up. */
export function openOrm(databaseUrl: string, { poolMax, timeouts }: PoolOptions): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: databaseUrl,
    entities: ENTITIES,
    extensions: [Migrator],
    migrations: {
      path: MIGRATIONS,
      emit: 'ts',
      snapshot: false,
      disableForeignKeys: false,
    },
    // Triggers are written by hand in their migration.
    schemaGenerator: { ignoreSchema: ['graphile_worker'], disableForeignKeys: false, ignoreTriggers: true },
    pool: { min: 0, max: poolMax },
    driverOptions: timeouts
      ? {
          connectionTimeoutMillis: timeouts.connectMs,
          statement_timeout: timeouts.statementMs,
          query_timeout: timeouts.statementMs + 1000,
          // So that several brief reads share a round trip (read.ts).
          pipeline: true,
        }
      : {},
    forceUtcTimezone: true,
    // The pool reports dropped connections here; requests and /readyz report them with more context.
    logger: () => undefined,
  });
}
