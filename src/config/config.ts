import { resolve } from 'node:path';
import { z } from 'zod';
import { brandColor, brandLogo, brandName } from './brand.ts';
import { githubKeys, pemFile, secretKeys } from './keys.ts';
import { mailbox } from './mailbox.ts';
import { networks, trustedProxies } from './networks.ts';
import { HSTS_SCOPES, baseUrl, isLoopback, origins, redirectSchemes, strictTransportSecurity } from './origins.ts';
import { PASSWORD_COST } from './password-cost.ts';
import { BUILT_IN_PLANS, plans } from './plans.ts';
import { redisServer, redisTlsFaults } from './redis-url.ts';
import { oddity, readWarnings } from './oddities.ts';
import { databaseUrl, redisUrls } from './servers.ts';
import {
  REQUESTS_MAX,
  SECONDS_MAX,
  count,
  days,
  flag,
  path,
  port,
  processes,
  serverUrl,
  url,
  wholeNumber,
} from './values.ts';

/** Maximum time in which a refresh can be repeated. Its encrypted response is kept for the same time. */
export const REFRESH_REPEAT_MAX_SECONDS = 600;

const { memoryKib, passes } = PASSWORD_COST;
const RATIO = 'must be a number from 0 to 1';

const environment = z.object({
  PORT: port().default(3000),
  HOST: path().default('127.0.0.1'),
  WORKERS: processes().default(1),
  BASE_URL: baseUrl().optional(),
  HSTS: z.enum(HSTS_SCOPES).optional(),
  DATABASE_URL: databaseUrl().optional(),
  // At least one connection for each pool (db/connection/pools.ts).
  DATABASE_POOLER: z.enum(['auto', 'none', 'session', 'transaction']).default('auto'),
  DATABASE_MIGRATION_URL: databaseUrl().optional(),
  DATABASE_POOL_MAX: wholeNumber(3, 1000).default(10),
  DATA_DIR: path().default('./var'),
  REDIS_URL: redisUrls().optional(),
  REDIS_CA: pemFile().optional(),
  REDIS_CERT: pemFile().optional(),
  REDIS_KEY: pemFile().optional(),
  SMTP_URL: serverUrl('smtp', 'smtps').optional(),
  MAIL_FROM: mailbox().prefault('Roster <roster@localhost>'),
  MAILS_PER_DAY_TEAM: count(5),
  MAILS_PER_DAY: count(20),
  SECRET_KEYS: secretKeys().optional(),
  SEED_DEMO: flag.optional(),
  DRAIN_SECONDS: wholeNumber(0, 3600).default(0),
  TRUST_PROXY: trustedProxies().default(false),
  RATE_LIMIT: count(300, REQUESTS_MAX),
  RATE_WINDOW_SECONDS: count(60, SECONDS_MAX),
  // Requests of an operator key per RATE_WINDOW_SECONDS, and those that verify credentials.
  OPERATOR_RATE_LIMIT: count(6000, REQUESTS_MAX),
  OPERATOR_VERIFY_LIMIT: count(60_000, REQUESTS_MAX),
  TEAM_LIMIT: count(10),
  KEY_LIMIT: count(1000),
  PICTURE_LIMIT: count(30),
  PLANS_FILE: plans().default(BUILT_IN_PLANS),
  PERMISSIONS_FILE: z.string().optional(),
  INVITATION_DAYS: days(7),
  SIGNUP: z.enum(['open', 'invited', 'closed']).optional(),
  SESSION_DAYS: days(30),
  SESSION_IDLE_DAYS: days(14),
  COUNTRY_HEADER: z.string().optional(),
  CITY_HEADER: z.string().optional(),
  MAXMIND_FILE: z.string().optional(),
  // Failed sign-ins per window, by IP address and by account. Known devices of an account are counted separately.
  SIGN_IN_ADDRESS_LIMIT: count(30),
  SIGN_IN_LIMIT: count(10),
  SIGN_IN_WINDOW_SECONDS: count(900, SECONDS_MAX),
  // Emails of each kind of link (verify, reset, change, sign in) per address and hour. Security notices have no limit.
  LINK_MAILS_PER_HOUR: count(5),
  PASSWORD_MEMORY_KIB: wholeNumber(memoryKib.min, memoryKib.max).default(memoryKib.min),
  PASSWORD_PASSES: wholeNumber(passes.min, passes.max).default(passes.min),
  // Requests under /oauth per RATE_WINDOW_SECONDS, by IP address and by authenticated client.
  OAUTH_ADDRESS_LIMIT: count(300, REQUESTS_MAX),
  OAUTH_CLIENT_LIMIT: count(3000, REQUESTS_MAX),
  // OAuth clients per account, created on the developer page.
  CLIENT_LIMIT: count(50),
  OAUTH_REGISTRATION: flag.default(false),
  OAUTH_CLIENT_DOCUMENTS: flag.default(false),
  OAUTH_DPOP: flag.default(false),
  // Seconds in which a repeated refresh gets the same response. If 0, it revokes the tokens immediately.
  OAUTH_REFRESH_REPEAT: wholeNumber(0, REFRESH_REPEAT_MAX_SECONDS).default(60),
  // Private-use schemes without a dot that native clients can redirect to.
  OAUTH_REDIRECT_SCHEMES: redirectSchemes().default(['cursor']),
  // Client registrations per IP address and hour.
  OAUTH_REGISTRATION_LIMIT: count(30, REQUESTS_MAX),
  // Reports of leaked secrets per RATE_WINDOW_SECONDS and IP address.
  LEAK_ADDRESS_LIMIT: count(60, REQUESTS_MAX),
  GITHUB_SECRET_SCANNING_KEYS: githubKeys().optional(),
  KEY_UNUSED_DAYS: wholeNumber(30, 3650).optional(),
  AUDIT_DAYS: count(365, 36_500),
  // Networks that endpoints of the installation, not those of teams, can be in although they are not public.
  WEBHOOK_PRIVATE_NETWORKS: networks().default([]),
  EVENT_DAYS: wholeNumber(30, 3650).default(30),
  BRAND_NAME: brandName().default('Roster'),
  BRAND_COLOR: brandColor().default('#12664f'),
  BRAND_LOGO: brandLogo().optional(),
  TOKEN_BRAND: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,9}$/, 'must be 2 to 10 lower-case letters and digits, starting with a letter')
    .default('rst'),
  TRPC_ORIGINS: origins().default([]),
  MCP: flag.default(true),
  // Whether /mcp offers the tool that returns the secret of a new API key to a model.
  MCP_CREATE_API_KEY: flag.default(false),
  METRICS_PORT: port().optional(),
  // Named by the OpenTelemetry specification.
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https').optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number(RATIO).min(0, RATIO).max(1, RATIO).default(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/** The environment variables that are read. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

export type Config = ReturnType<typeof readConfig>;

/** Invalid settings. Each fault is one line that starts with the name of its variable. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(...faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/**
 * Converts the environment. docs/configuration.md describes each variable.
 * @throws ConfigError with all invalid variables
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  const given = Object.entries(env).filter(([, value]) => value !== '');
  // Node and engines of containers take the byte order mark of a file of variables for a part of the first name.
  const marked = given.map(([name, value]) => [name.replace(/^\uFEFF/, ''), value] as const);
  const set = Object.fromEntries([...marked, ...given]);
  const parsed = environment.safeParse(set);
  const faults = (parsed.error?.issues ?? []).map(({ path: [variable], message }) =>
    [`${String(variable)}: ${message}`, oddity(set[String(variable)])].filter(Boolean).join('; '),
  );
  if (set['DATABASE_URL'] !== undefined && set['SECRET_KEYS'] === undefined)
    faults.push('SECRET_KEYS: required with DATABASE_URL; set at least 32 random ASCII characters');
  if (set['DATABASE_MIGRATION_URL'] !== undefined && set['DATABASE_URL'] === undefined)
    faults.push('DATABASE_MIGRATION_URL: requires DATABASE_URL');
  faults.push(...redisTlsFaults(set));
  if (set['METRICS_PORT'] !== undefined && set['METRICS_PORT'] === (set['PORT'] ?? '3000'))
    faults.push('METRICS_PORT: must differ from PORT, which is public');
  if (parsed.success && parsed.data.WORKERS > 1 && parsed.data.REDIS_URL === undefined)
    faults.push(`WORKERS: ${parsed.data.WORKERS} processes count rate limits in Redis; set REDIS_URL, or WORKERS=1`);
  if (parsed.success && parsed.data.AUDIT_DAYS < parsed.data.EVENT_DAYS)
    faults.push(
      `AUDIT_DAYS: must be at least EVENT_DAYS (${parsed.data.EVENT_DAYS}), because feeds read the audit log`,
    );
  if (!parsed.success || faults.length > 0) throw new ConfigError(...new Set(faults));
  const e = parsed.data;
  return {
    /** What works, and is hardly meant: one line each. */
    warnings: readWarnings(set),
    port: e.PORT,
    host: e.HOST,
    /** The number of processes that serve requests. */
    workers: e.WORKERS,
    /** Without a trailing slash. */
    baseUrl: e.BASE_URL ?? `http://localhost:${e.PORT}`,
    /** The value of `Strict-Transport-Security`, if it is sent. */
    hsts: e.BASE_URL === undefined ? undefined : strictTransportSecurity(e.BASE_URL, e.HSTS),
    databaseUrl: e.DATABASE_URL,
    /** What is between this service and PostgreSQL; `auto` finds it out. */
    databasePooler: e.DATABASE_POOLER,
    /** Leads to PostgreSQL without a pooler, for migrations, backups and notifications. */
    databaseMigrationUrl: e.DATABASE_MIGRATION_URL,
    databasePoolMax: e.DATABASE_POOL_MAX,
    dataDir: resolve(e.DATA_DIR),
    redis: redisServer(e.REDIS_URL, { ca: e.REDIS_CA, cert: e.REDIS_CERT, key: e.REDIS_KEY }),
    smtpUrl: e.SMTP_URL,
    mailFrom: e.MAIL_FROM,
    mailsPerDayFromTeam: e.MAILS_PER_DAY_TEAM,
    mailsPerDay: e.MAILS_PER_DAY,
    secretKeys: e.SECRET_KEYS,
    seedDemo: e.SEED_DEMO ?? e.DATABASE_URL === undefined,
    drainSeconds: e.DRAIN_SECONDS,
    trustProxy: e.TRUST_PROXY,
    rateLimit: e.RATE_LIMIT,
    rateWindowSeconds: e.RATE_WINDOW_SECONDS,
    operatorRateLimit: e.OPERATOR_RATE_LIMIT,
    operatorVerifyLimit: e.OPERATOR_VERIFY_LIMIT,
    teamLimit: e.TEAM_LIMIT,
    keyLimit: e.KEY_LIMIT,
    /** Pictures that an account can set per hour. */
    pictureLimit: e.PICTURE_LIMIT,
    plans: e.PLANS_FILE,
    /** The catalogue of the product’s permissions, applied at each start. */
    permissionsFile: e.PERMISSIONS_FILE,
    invitationDays: e.INVITATION_DAYS,
    signup: e.SIGNUP ?? (e.DATABASE_URL === undefined ? ('open' as const) : ('invited' as const)),
    sessionDays: e.SESSION_DAYS,
    sessionIdleDays: e.SESSION_IDLE_DAYS,
    /** Headers of a trusted proxy, in lower case. Ignored without TRUST_PROXY. */
    countryHeader: e.COUNTRY_HEADER?.toLowerCase(),
    cityHeader: e.CITY_HEADER?.toLowerCase(),
    maxmindFile: e.MAXMIND_FILE,
    signInAddressLimit: e.SIGN_IN_ADDRESS_LIMIT,
    signInLimit: e.SIGN_IN_LIMIT,
    signInWindowSeconds: e.SIGN_IN_WINDOW_SECONDS,
    linkMailsPerHour: e.LINK_MAILS_PER_HOUR,
    passwordCost: { memoryKib: e.PASSWORD_MEMORY_KIB, passes: e.PASSWORD_PASSES },
    oauth: {
      addressLimit: e.OAUTH_ADDRESS_LIMIT,
      clientLimit: e.OAUTH_CLIENT_LIMIT,
      clientsPerAccount: e.CLIENT_LIMIT,
      /** Dynamic registration (RFC 7591). */
      registration: e.OAUTH_REGISTRATION,
      /** Whether a client id can be the URL of its metadata. */
      clientDocuments: e.OAUTH_CLIENT_DOCUMENTS,
      /** Sender-constrained tokens (RFC 9449). */
      dpop: e.OAUTH_DPOP,
      /** Time in which a refresh can be repeated; 0 disables repetition. */
      refreshRepeatSeconds: e.OAUTH_REFRESH_REPEAT,
      /** Private-use schemes without a dot that native clients can redirect to, in lower case. */
      redirectSchemes: e.OAUTH_REDIRECT_SCHEMES,
      /** Client registrations per IP address and hour. */
      registrationLimit: e.OAUTH_REGISTRATION_LIMIT,
    },
    /** Reports of leaked secrets per rate window and IP address. */
    leakAddressLimit: e.LEAK_ADDRESS_LIMIT,
    /** The public keys of GitHub's secret scanning by identifier; reports of GitHub are not accepted without them. */
    githubSecretScanningKeys: e.GITHUB_SECRET_SCANNING_KEYS,
    /** API keys that were not used for so many days are revoked. */
    keyUnusedDays: e.KEY_UNUSED_DAYS,
    auditDays: e.AUDIT_DAYS,
    webhookPrivateNetworks: e.WEBHOOK_PRIVATE_NETWORKS,
    /** Whether only this machine is served: pages for developers exist, and webhooks can be sent to it. */
    isDevelopment:
      e.SMTP_URL === undefined &&
      e.TRUST_PROXY === false &&
      (e.BASE_URL === undefined || isLoopback(new URL(e.BASE_URL).hostname)),
    /** How long feeds and deliveries contain an event. */
    eventDays: e.EVENT_DAYS,
    brand: { name: e.BRAND_NAME, color: e.BRAND_COLOR, logo: e.BRAND_LOGO ?? null },
    tokenBrand: e.TOKEN_BRAND,
    trpcOrigins: e.TRPC_ORIGINS,
    mcp: e.MCP,
    mcpCreateApiKey: e.MCP_CREATE_API_KEY,
    metricsPort: e.METRICS_PORT,
    otlp:
      e.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : { endpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: e.OTEL_TRACES_SAMPLER_ARG },
    logLevel: e.LOG_LEVEL,
  };
}
