import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

const flag = z.enum(['true', 'false', '1', '0', 'on', 'off']).transform((value) => /^(true|1|on)$/.test(value));
const count = (fallback: number, min = 1) => z.coerce.number().int().min(min).default(fallback);
const seconds = (fallback: number) => count(fallback, 0);
const url = (protocols: RegExp) => z.url({ protocol: protocols });

const isRedisUrl = (text: string) => /^rediss?:\/\//.test(text.trim()) && URL.canParse(text.trim());

const environment = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  BASE_URL: url(/^https?$/).optional(),
  DATABASE_URL: url(/^postgres(ql)?$/).optional(),
  DATABASE_POOL_MAX: count(10),
  DATA_DIR: z.string().min(1).default('./var'),
  REDIS_URL: z
    .string()
    .refine((text) => text.split(',').every(isRedisUrl), 'must be redis:// or rediss:// URLs, separated by commas')
    .optional(),
  SMTP_URL: url(/^smtps?$/).optional(),
  MAIL_FROM: z.string().min(3).default('Roster <roster@localhost>'),
  MAILS_PER_DAY_TEAM: count(5),
  MAILS_PER_DAY: count(20),
  SECRET_KEYS: z.string().optional(),
  SEED_DEMO: flag.optional(),
  DRAIN_SECONDS: seconds(0),
  TRUST_PROXY: z.string().optional(),
  RATE_LIMIT: count(300),
  RATE_WINDOW_SECONDS: count(60),
  TEAM_LIMIT: count(10),
  KEY_LIMIT: count(1000),
  PLANS_FILE: z.string().optional(),
  INVITATION_DAYS: count(7),
  SIGNUP: z.enum(['open', 'invited', 'closed']).optional(),
  SESSION_DAYS: count(30),
  SESSION_IDLE_DAYS: count(14),
  COUNTRY_HEADER: z.string().optional(),
  CITY_HEADER: z.string().optional(),
  MAXMIND_FILE: z.string().optional(),
  // How often a sign-in may fail in a window: from one address, and at one account, where browsers
  // that it has signed in from count for themselves.
  SIGN_IN_ADDRESS_LIMIT: count(30),
  SIGN_IN_LIMIT: count(10),
  SIGN_IN_WINDOW_SECONDS: count(900),
  // Links to verify, reset or change an address that one mailbox gets in an hour; invitations and
  // notices are counted apart, by MAILS_PER_DAY.
  LINK_MAILS_PER_HOUR: count(5),
  PASSWORD_MEMORY_KIB: count(19_456, 19_456),
  PASSWORD_PASSES: count(2, 2),
  // How often one address may ask under /oauth in RATE_WINDOW_SECONDS, and one client with its secret.
  OAUTH_ADDRESS_LIMIT: count(300),
  OAUTH_CLIENT_LIMIT: count(3000),
  // Clients of one account, on its developer page.
  CLIENT_LIMIT: count(50),
  OAUTH_REGISTRATION: flag.default(false),
  OAUTH_CLIENT_DOCUMENTS: flag.default(false),
  OAUTH_DPOP: flag.default(false),
  OAUTH_REFRESH_REPEAT: flag.default(true),
  AUDIT_DAYS: count(365),
  TOKEN_BRAND: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,9}$/)
    .default('rst'),
  TRPC_ORIGINS: z.string().default(''),
  METRICS_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  // The names of OpenTelemetry's own specification.
  OTEL_EXPORTER_OTLP_ENDPOINT: url(/^https?$/).optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

const plan = z.object({ id: z.string().min(1), name: z.string().min(1), seats: z.int().min(1) });
const BUILT_IN_PLANS = [
  { id: 'free', name: 'Free', seats: 5 },
  { id: 'pro', name: 'Pro', seats: 50 },
];

/** What a team may use. `seats` counts active members and pending invitations together. */
export type Plan = z.infer<typeof plan>;

export type Config = ReturnType<typeof readConfig>;

/** A wrong setting: the start stops with its message, one line, naming the variable. */
export class ConfigError extends Error {}

/** The environment as one object; the README's table says what each variable means. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(set);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigError(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const e = parsed.data;
  const plans = readPlans(e.PLANS_FILE);
  const baseUrl = new URL(e.BASE_URL ?? `http://localhost:${e.PORT}`);
  if (baseUrl.protocol === 'http:' && !isLoopback(baseUrl.hostname)) {
    throw new ConfigError('BASE_URL: must be https unless it names this machine (localhost, 127.0.0.1, [::1])');
  }
  if (e.DATABASE_URL !== undefined && e.SECRET_KEYS === undefined) {
    throw new ConfigError('SECRET_KEYS: required with DATABASE_URL; set at least 32 random ASCII characters');
  }
  if (e.METRICS_PORT === e.PORT) throw new ConfigError('METRICS_PORT: must not be PORT, which everybody reaches');
  return {
    port: e.PORT,
    host: e.HOST,
    /** Without a trailing slash. */
    baseUrl: baseUrl.href.replace(/\/$/, ''),
    databaseUrl: e.DATABASE_URL,
    databasePoolMax: e.DATABASE_POOL_MAX,
    dataDir: resolve(e.DATA_DIR),
    redisUrl: e.REDIS_URL,
    smtpUrl: e.SMTP_URL,
    mailFrom: e.MAIL_FROM,
    mailsPerDayFromTeam: e.MAILS_PER_DAY_TEAM,
    mailsPerDay: e.MAILS_PER_DAY,
    secretKeys: e.SECRET_KEYS === undefined ? undefined : readSecretKeys(e.SECRET_KEYS),
    seedDemo: e.SEED_DEMO ?? e.DATABASE_URL === undefined,
    drainSeconds: e.DRAIN_SECONDS,
    trustProxy: readTrustProxy(e.TRUST_PROXY),
    rateLimit: e.RATE_LIMIT,
    rateWindowSeconds: e.RATE_WINDOW_SECONDS,
    teamLimit: e.TEAM_LIMIT,
    keyLimit: e.KEY_LIMIT,
    plans,
    invitationDays: e.INVITATION_DAYS,
    signup: e.SIGNUP ?? (e.DATABASE_URL === undefined ? ('open' as const) : ('invited' as const)),
    sessionDays: e.SESSION_DAYS,
    sessionIdleDays: e.SESSION_IDLE_DAYS,
    /** Headers that a trusted proxy sets, in lower case; without TRUST_PROXY nobody's are believed. */
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
      /** Clients that are named by the URL of their metadata. */
      clientDocuments: e.OAUTH_CLIENT_DOCUMENTS,
      /** Tokens bound to a key (RFC 9449). */
      dpop: e.OAUTH_DPOP,
      /** Whether a refresh may be repeated within half a minute. */
      refreshRepeat: e.OAUTH_REFRESH_REPEAT,
    },
    /** How long events of the audit log are kept. */
    auditDays: e.AUDIT_DAYS,
    tokenBrand: e.TOKEN_BRAND,
    trpcOrigins: e.TRPC_ORIGINS.split(',')
      .map((origin) => origin.trim())
      .filter(Boolean),
    metricsPort: e.METRICS_PORT,
    otlp:
      e.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : { endpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: e.OTEL_TRACES_SAMPLER_ARG },
    logLevel: e.LOG_LEVEL,
  };
}

/** Keys from `SECRET_KEYS` text: the first one signs and seals, all of them verify and open. */
export function readSecretKeys(text: string): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.some((key) => !/^[\x21-\x7e]{32,}$/.test(key))) {
    throw new ConfigError('SECRET_KEYS: each key needs at least 32 ASCII characters without spaces');
  }
  return keys;
}

function readPlans(file: string | undefined): ReadonlyMap<string, Plan> {
  if (file !== undefined && !existsSync(file)) throw new ConfigError(`PLANS_FILE: ${file} does not exist`);
  try {
    const list = file === undefined ? BUILT_IN_PLANS : z.array(plan).parse(JSON.parse(readFileSync(file, 'utf8')));
    if (!list.some(({ id }) => id === 'free')) throw new Error('the plan "free" is missing, which teams start on');
    return new Map(list.map((entry) => [entry.id, entry]));
  } catch (error) {
    throw new ConfigError(`PLANS_FILE: not a list of { id, name, seats } (${firstLine(error)})`);
  }
}

const firstLine = (error: unknown) => (error instanceof Error ? error.message.split('\n')[0] : String(error));

/** `TRUST_PROXY` as Express takes it: a number of hops, true, or addresses. */
function readTrustProxy(text: string | undefined): boolean | number | string {
  if (text === undefined || text === 'false' || text === 'off') return false;
  if (text === 'true') return true;
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Whether a host name, as URL.hostname gives it, can only mean this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
