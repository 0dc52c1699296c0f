import { z } from 'zod';
import { ACCOUNT_ROLES, SUBSCRIPTION_STATUSES } from '../../entities/index.ts';
import { resourceId, text, timestamp } from '../../procedures/fields.ts';

export const findInput = z.object({ query: text(1, 255) });
export const accountInput = z.object({ accountId: resourceId });
export const teamInput = z.object({ teamId: resourceId });

const person = z.object({
  id: z.string(),
  email: z.string().nullable(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
});
const count = z.number();

export const foundOutput = z.object({
  accounts: z.array(person.extend({ disabledAt: timestamp.nullable() })),
  teams: z.array(z.object({ id: z.string(), name: z.string(), slug: z.string() })),
});

export const accountOutput = person.extend({
  role: z.enum(ACCOUNT_ROLES),
  preferredLocale: z.string().nullable(),
  emailVerified: timestamp.nullable(),
  disabledAt: timestamp.nullable(),
  createdAt: timestamp,
  /** Number of all teams. `teams` contains only the first ones. */
  teamCount: count,
  teams: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      role: z.object({ id: z.string(), name: z.string() }),
      isActive: z.boolean(),
    }),
  ),
  /** Numbers of valid ones. */
  sessions: count,
  keys: count,
  grants: count,
});

export const teamOutput = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  createdAt: timestamp,
  owner: person.nullable(),
  members: count,
  pendingInvitations: count,
  plan: z.object({ id: z.string(), name: z.string(), status: z.enum(SUBSCRIPTION_STATUSES).nullable() }),
  seats: z.object({ total: count, taken: count }),
});

export const healthOutput = z.object({
  version: z.string(),
  uptimeSeconds: count,
  database: z.object({ version: z.string(), latencyMs: z.number() }),
  redis: z.enum(['none', 'reachable', 'unreachable']),
  jobs: z.object({
    waiting: count,
    running: count,
    failed: count,
    failures: z.array(
      z.object({
        id: z.string(),
        task: z.string(),
        attempts: count,
        attemptsMax: count,
        nextAt: timestamp,
        reason: z.string(),
      }),
    ),
  }),
});
