import { z } from 'zod';
import { AUDIT_EVENTS, type EventName } from '../../events/catalogue.ts';
import { iso } from '../../db/query.ts';
import { ACTOR_KINDS, type ActorKind } from '../../entities/index.ts';
import { resourceId, timestamp } from '../../procedures/fields.ts';

/** An event as it is stored. */
export type EventRow = {
  id: string;
  occurred_at: string;
  event: EventName;
  actor_kind: ActorKind;
  actor_id: string | null;
  credential_id: string | null;
  client_id: string | null;
  team_id: string | null;
  account_id: string | null;
  target_id: string | null;
  address: string | null;
  request_id: string | null;
  details: Record<string, unknown>;
  count: number;
};

/** With what its ids are called, as long as there is something of that id. */
export type NamedRow = EventRow & {
  actor_name: string | null;
  account_name: string | null;
  credential_name: string | null;
  target_name: string | null;
};

/** What a page can be narrowed to: what an event is about, which its name begins with. */
const KINDS = ['team', 'ownership', 'member', 'role', 'invitation', 'api_key', 'oauth_grant', 'access'] as const;

export const listAuditInput = z.object({
  teamId: resourceId,
  kind: z.enum(KINDS).optional(),
  /** The last event of the page before. */
  cursor: resourceId.optional(),
  limit: z.int().min(1).max(500).default(50),
});

const person = z.object({ userId: z.string(), name: z.string().nullable() });

const auditEventOutput = z.object({
  id: z.string(),
  occurredAt: timestamp,
  event: z.enum(AUDIT_EVENTS),
  actorKind: z.enum([...ACTOR_KINDS, 'operator']),
  /** Who did it; null where that was nobody with an account, or is no business of the team. */
  actor: person.nullable(),
  /** The key that it was done with. */
  credentialName: z.string().nullable(),
  /** Whom it is about, where that is somebody else. */
  subject: person.nullable(),
  /** What it is about, by its name while there is one. */
  target: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  reason: z.string().nullable(),
  count: z.int(),
});

export const auditPageOutput = z.object({ events: z.array(auditEventOutput), nextCursor: z.string().nullable() });

/** An event as its team sees it: of the operator of the installation, that it was them and no more. */
export function presentEvent(row: NamedRow): z.infer<typeof auditEventOutput> {
  const isOperators = row.event.startsWith('operator.');
  const { reason } = row.details;
  return {
    id: row.id,
    occurredAt: iso(row.occurred_at),
    event: row.event,
    actorKind: isOperators ? 'operator' : row.actor_kind,
    actor: isOperators || row.actor_id === null ? null : { userId: row.actor_id, name: row.actor_name },
    credentialName: row.credential_name,
    subject:
      row.account_id === null || row.account_id === row.actor_id || isOperators
        ? null
        : { userId: row.account_id, name: row.account_name },
    target: row.target_id === null ? null : { id: row.target_id, name: row.target_name },
    address: isOperators ? null : row.address,
    requestId: row.request_id,
    reason: typeof reason === 'string' ? reason : null,
    count: row.count,
  };
}
