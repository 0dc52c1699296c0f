/**
 * The columns of an event by property, in the order in which MACs and hashes cover them. Do not reorder or remove
 * one: existing events would fail verification.
 */
export const EVENT_COLUMNS = {
  id: 'id',
  occurredAt: 'occurred_at',
  event: 'event',
  actorKind: 'actor_kind',
  actorId: 'actor_id',
  credentialId: 'credential_id',
  clientId: 'client_id',
  teamId: 'team_id',
  accountId: 'account_id',
  targetId: 'target_id',
  address: 'address',
  requestId: 'request_id',
  details: 'details',
  count: 'count',
} as const;

export type EventProperty = keyof typeof EVENT_COLUMNS;
type Column = (typeof EVENT_COLUMNS)[EventProperty];

export const PROPERTIES = Object.keys(EVENT_COLUMNS) as readonly EventProperty[];
export const COLUMNS: readonly Column[] = Object.values(EVENT_COLUMNS);

/** SQL for the columns whose text form would depend on settings. */
const TEXT_FORMS: Partial<Record<Column, string>> = {
  occurred_at: `to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at`,
  details: 'e.details::text as details',
  count: 'e.count::text as count',
};

/** Selects all columns of an event as text, in a format that does not depend on settings. */
export const CANONICAL = [
  ...COLUMNS.map((column) => TEXT_FORMS[column] ?? `e.${column}`),
  `encode(e.mac, 'hex') as mac`,
].join(', ');

type Required = 'id' | 'occurred_at' | 'event' | 'actor_kind' | 'details' | 'count';

export type CanonicalRow = Readonly<
  Record<Required, string> & Record<Exclude<Column, Required> | 'mac', string | null>
>;
