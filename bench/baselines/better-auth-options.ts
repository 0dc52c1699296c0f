import { apiKey } from '@better-auth/api-key';
import { redisStorage } from '@better-auth/redis-storage';
import { betterAuth } from 'better-auth';
import { organization } from 'better-auth/plugins';
import { Redis } from 'ioredis';
import pg from 'pg';

// As its documentation has it for production: Redis for sessions, rate limits and keys ("best for
// high-performance scenarios"), joins on, and what can wait done after the answer.

const { DATABASE_URL, REDIS_URL, PORT, RATE_LIMIT, BETTER_AUTH_KEYS = 'redis' } = process.env;

// The other two places where its documentation lets keys live, for comparison.
const STORAGE = {
  redis: { storage: 'secondary-storage' },
  both: { storage: 'secondary-storage', fallbackToDatabase: true },
  database: { storage: 'database' },
};

export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
export const redis = new Redis(REDIS_URL, { enableAutoPipelining: true });

export const auth = betterAuth({
  baseURL: `http://127.0.0.1:${PORT}`,
  secret: process.env['SECRET_KEYS'],
  database: pool,
  secondaryStorage: redisStorage({ client: redis }),
  rateLimit: { enabled: true, storage: 'secondary-storage', window: 60, max: Number(RATE_LIMIT) },
  telemetry: { enabled: false },
  advanced: {
    database: { joins: true },
    backgroundTasks: { handler: (task) => void task.catch(() => {}) },
    ipAddress: { ipAddressHeaders: ['x-forwarded-for'] },
  },
  plugins: [
    organization(),
    apiKey({
      ...STORAGE[BETTER_AUTH_KEYS],
      enableSessionForAPIKeys: true,
      deferUpdates: true,
      rateLimit: { enabled: true, timeWindow: 60_000, maxRequests: Number(RATE_LIMIT) },
    }),
  ],
});
