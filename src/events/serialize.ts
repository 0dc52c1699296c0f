import { iso } from '../db/query.ts';
import type { ActorKind } from '../entities/index.ts';
import { EVENTS, toEventName, type EventName } from './catalogue.ts';
import type { EventTarget } from './definition.ts';

/** An event as it is stored. */
export type EventRow = {
  id: string;
  occurred_at: string;
  event: string;
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

/** An event as its readers get it. */
export type PublicEvent = {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: string;
  readonly actor: {
    readonly kind: ActorKind | 'operator';
    readonly id: string | null;
    readonly credentialId: string | null;
    readonly clientId: string | null;
    readonly address: string | null;
  };
  readonly teamId: string | null;
  readonly accountId: string | null;
  readonly target: { readonly type: EventTarget | null; readonly id: string } | null;
  readonly requestId: string | null;
  readonly clientRequestId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly count: number;
};

/** Returns the client's id of the request, which `record` keeps in the details, and the details without it. */
export function splitDetails({ details }: Pick<EventRow, 'details'>) {
  const { clientRequestId, ...data } = details;
  return { clientRequestId: typeof clientRequestId === 'string' ? clientRequestId : null, data };
}

/** Kinds of actors that teams see as the operator. The command line has neither an account nor an address. */
const OPERATORS: ReadonlySet<ActorKind> = new Set<ActorKind>(['operator_key', 'operator_session']);

/** Converts a stored event for its readers. Teams learn that an operator acted, but not which one or from where. */
export function serialize(row: EventRow, audience: 'team' | 'operator'): PublicEvent {
  const type = toEventName(row.event);
  const { clientRequestId, data } = splitDetails(row);
  const isHidden = audience === 'team' && type.startsWith('operator.');
  const isByOperator = isHidden || (audience === 'team' && OPERATORS.has(row.actor_kind));
  return {
    id: row.id,
    type,
    occurredAt: iso(row.occurred_at),
    actor: isByOperator
      ? { kind: 'operator', id: null, credentialId: null, clientId: null, address: null }
      : {
          kind: row.actor_kind,
          id: row.actor_id,
          credentialId: row.credential_id,
          clientId: row.client_id,
          address: row.address,
        },
    teamId: row.team_id,
    // In an account's own feed, the account is the reader.
    accountId: isHidden && EVENTS[type]?.audience !== 'account' ? null : row.account_id,
    target: row.target_id === null ? null : { type: EVENTS[type]?.target ?? null, id: row.target_id },
    requestId: row.request_id,
    clientRequestId,
    data,
    count: row.count,
  };
}
