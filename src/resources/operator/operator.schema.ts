import { z } from 'zod';
import { ACCOUNT_ROLES, ACTOR_KINDS, SCOPES } from '../../entities/index.ts';
import { EVENTS, type EventName } from '../../events/catalogue.ts';
import { JOB_STATES } from '../../jobs/job-list.ts';
import { instant, resourceId, text, timestamp } from '../../procedures/fields.ts';
import { KEYS_MAX } from './key-list.queries.ts';
import { subscriptionOutput } from './operator-api.schema.ts';
import { nextCursor, pageInput } from './paging.ts';

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
  externalId: z.string().nullable(),
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
  /** The methods that the open sessions prove. */
  sessionMethods: z.array(z.string()),
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
  description: z.string().nullable(),
  externalId: z.string().nullable(),
  subscription: subscriptionOutput,
  seats: z.object({ total: count, taken: count }),
  /** The configured plans, which the subscription can be changed to. */
  plans: z.array(z.object({ id: z.string(), name: z.string(), seats: count })),
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

export const membersInput = teamInput.extend({ cursor: pageInput.cursor });
export const keysInput = z.object({
  of: z.enum(['account', 'team']),
  id: resourceId,
  cursor: pageInput.cursor,
  limit: z.int().min(1).max(KEYS_MAX).default(KEYS_MAX),
});
export const keyInput = z.object({ keyId: resourceId });

export const keysOutput = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      keyPrefix: z.string(),
      last4: z.string(),
      scopes: z.array(z.enum(SCOPES)),
      team: z.object({ id: z.string(), name: z.string() }).nullable(),
      /** The account that made it. */
      account: person,
      createdAt: timestamp,
      lastUsedAt: timestamp.nullable(),
      expiresAt: timestamp.nullable(),
    }),
  ),
  nextCursor,
});

/** The largest id of a job is a bigint. */
const jobId = z.string().regex(/^\d{1,18}$/);

export const jobsInput = z.object({
  state: z.enum(JOB_STATES).optional(),
  /** `nextAfter` of the previous page. */
  after: pageInput.cursor,
});

export const jobsOutput = z.object({
  jobs: z.array(
    z.object({
      id: z.string(),
      task: z.string(),
      /** Of an email. */
      kind: z.string().nullable(),
      /** The account or invitation that an email is about. */
      subjectId: z.string().nullable(),
      attempts: count,
      attemptsMax: count,
      nextAt: timestamp,
      state: z.enum(JOB_STATES),
      reason: z.string().nullable(),
    }),
  ),
  /** The id of the last job, if there are more. */
  nextAfter: z.string().nullable(),
});

export const rolesOutput = z.array(z.object({ id: z.string(), name: z.string() }));

/** One failed job, or all without an id. */
export const retryJobsInput = z.object({ jobId: jobId.optional() });
export const retriedOutput = z.object({ retried: count });

const eventName = z.enum(Object.keys(EVENTS) as EventName[]);
export const eventNamesOutput = z.array(eventName);

/** The configured plans. */
export const plansOutput = z.array(z.object({ id: z.string(), name: z.string() }));

export const auditInput = z.object({
  event: eventName.optional(),
  actorId: resourceId.optional(),
  teamId: resourceId.optional(),
  /** The account that the event is about. */
  accountId: resourceId.optional(),
  /** The credential that was used. */
  keyId: resourceId.optional(),
  from: instant.optional(),
  /** Not including this time. */
  to: instant.optional(),
  ...pageInput,
});

const named = z.object({ id: z.string(), name: z.string().nullable() });

export const auditOutput = z.object({
  events: z.array(
    z.object({
      id: z.string(),
      occurredAt: timestamp,
      event: z.string(),
      actor: z.object({
        kind: z.enum([...ACTOR_KINDS, 'operator']),
        account: named.nullable(),
        address: z.string().nullable(),
      }),
      credential: named.nullable(),
      account: named.nullable(),
      team: named.nullable(),
      target: z.object({ type: z.string().nullable(), id: z.string() }).nullable(),
      requestId: z.string().nullable(),
      clientRequestId: z.string().nullable(),
      details: z.record(z.string(), z.unknown()),
      count,
    }),
  ),
  nextCursor,
  /** Whether older events were not searched yet, because too many had to be read. */
  isPartial: z.boolean(),
});
