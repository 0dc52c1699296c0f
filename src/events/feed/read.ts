import { query, type QueryRunner } from '../../db/query.ts';
import type { Encryption } from '../../crypto/encryption.ts';
import type { Permission, Scope } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import { EVENTS, isKnown, knownNames, type EventName } from '../catalogue.ts';
import { STOP_INTERVAL } from '../newer-version.ts';
import { withoutOperatorFields } from '../data.ts';
import type { EventDefinition } from '../definition.ts';
import { COLUMNS } from '../chain/event-columns.ts';
import { GENESIS } from '../chain/hash-chain.ts';
import { serialize, type EventRow } from '../serialize.ts';
import { decodeCursor, encodeCursor, type FeedPosition } from './cursor.ts';
import type { DeliveredEvent } from './event-schema.ts';

/** Whose feed it is. A reader gets what they may see at the time of reading. */
export type FeedReader =
  | { readonly kind: 'operator'; readonly teamId?: string | undefined; readonly accountId?: string | undefined }
  | {
      readonly kind: 'team';
      readonly teamId: string;
      readonly permissions: readonly Permission[];
      readonly scopes: readonly Scope[];
    }
  | { readonly kind: 'account'; readonly accountId: string; readonly scopes: readonly Scope[] };

export type FeedPage = { readonly events: DeliveredEvent[]; readonly cursor: string; readonly hasMore: boolean };

type Options = {
  /** The cursor of the page before, or `NOW`; without one, the feed begins with the oldest event. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly types?: readonly EventName[] | undefined;
};

/** An event with its payload, as it is stored. */
export type DeliveredRow = EventRow & { readonly type: EventName; readonly data: Record<string, unknown> | null };

type Row = DeliveredRow & { readonly sequence: string; readonly hash: string; readonly is_recent: boolean };

/** Bounds what one page of an instance-wide feed looks through, so that a rare type does not take too long. */
const WINDOW = 50_000;

const LIST = (parameter: string) => `any(array(select jsonb_array_elements_text(${parameter}::jsonb)))`;

/** $5 is the id of the team or account, $6 that of the account in the operator's feed. */
const FILTERS = {
  operator: '($5::text is null or p.team_id = $5) and ($6::text is null or p.account_id = $6)',
  team: 'p.team_id = $5 and $6::text is null',
  account: 'p.account_id = $5',
} as const;

/** The own events of an account include those in teams; $6 is their types. */
const TYPES = {
  operator: `p.type = ${LIST('$3')}`,
  team: `p.type = ${LIST('$3')}`,
  account: `p.type = ${LIST('$3')} and (p.team_id is null or p.type = ${LIST('$6')})`,
} as const;

/** Events of a newer version. $7 is what this one knows; null if the reader has chosen types. */
const IS_UNKNOWN = `($7::jsonb is not null and not p.type = ${LIST('$7')})`;

const pageOf = (kind: FeedReader['kind']) =>
  query<Row>(
    `event_payload_list_of_${kind}`,
    `select ${COLUMNS.map((column) => `e.${column}`).join(', ')}, p.sequence, p.type, p.data,
       encode(l.hash, 'hex') as hash, p.created_at > now() - interval '${STOP_INTERVAL}' as is_recent
     from event_payload p join audit_event e on e.id = p.event_id join audit_link l on l.sequence = p.sequence
     where p.sequence > $1::bigint and p.sequence <= $2::bigint and ${FILTERS[kind]}
       and ((${TYPES[kind]}) or ${IS_UNKNOWN})
     order by p.sequence limit $4::int`,
    { rows: 'many' },
  );
const PAGES = { operator: pageOf('operator'), team: pageOf('team'), account: pageOf('account') };

/** Stands for the cursor after the newest event. A snapshot that is read later lacks only what is numbered after it. */
export const NOW = 'now';

type Bounds = { start: string; startHash: string | null; end: string; endHash: string | null; known: string | null };

const HASH_AT = (sequence: string) =>
  `encode((select hash from audit_link where sequence = ${sequence}
     union all select hash from audit_checkpoint where sequence = ${sequence} limit 1), 'hex')`;

/** Returns the oldest and newest positions of feeds. Events that retention deleted from the audit log are not in feeds. */
const feedBounds = query<Bounds>(
  'event_payload_find_bounds',
  `with h as (
     select coalesce(sequence, 0) as last, greatest(feed_start, coalesce(
       (select max(sequence) from audit_checkpoint where is_root), 0)) as first
     from audit_head)
   select h.first as start, ${HASH_AT('h.first')} as "startHash", least(h.last, coalesce($2::bigint, h.last)) as end,
     ${HASH_AT('least(h.last, coalesce($2::bigint, h.last))')} as "endHash", ${HASH_AT('$1::bigint')} as known
   from h`,
);

/**
 * Reads a page of delivered events in their order. An empty page has a cursor to go on with.
 * @throws cursor_expired (410) with the oldest cursor, validation_failed for text that is no cursor
 */
export async function readFeed(
  db: QueryRunner,
  encryption: Encryption,
  reader: FeedReader,
  { after, limit, types }: Options,
): Promise<FeedPage> {
  if (after === NOW) return { events: [], cursor: await findNow(db, encryption), hasMore: false };
  const from = await findStart(db, encryption, after);
  const isWide = reader.kind === 'operator' && !reader.teamId && !reader.accountId;
  const [bounds] = await db.query(feedBounds, [from.sequence, isWide ? from.sequence + WINDOW : null]);
  const end = toPosition(bounds?.end, bounds?.endHash);
  const wanted = visibleTypes(reader).filter((type) => types === undefined || types.includes(type));
  const found = await db.query(PAGES[reader.kind], [
    from.sequence,
    end.sequence,
    JSON.stringify(wanted),
    limit,
    ...(reader.kind === 'account'
      ? [reader.accountId, JSON.stringify(OWN_TYPES)]
      : [reader.teamId ?? null, reader.kind === 'operator' ? (reader.accountId ?? null) : null]),
    types === undefined ? JSON.stringify(knownNames()) : null,
  ]);
  // A newer replica goes on from there. After a while there is none, and such events are left out.
  const stop = found.findIndex(({ type, is_recent: isRecent }) => isRecent && !isKnown(type));
  const rows = stop === -1 ? found : found.slice(0, stop);
  const last = stop === -1 && rows.length < limit ? null : (rows.at(-1) ?? from);
  const next = last === null ? end : toPosition(String(last.sequence), last.hash);
  return {
    events: rows.filter(({ type }) => isKnown(type)).map((row) => toDelivered(row, reader)),
    cursor: encodeCursor(encryption, next.sequence < from.sequence ? from : next),
    hasMore: stop === -1 && (last !== null || (isWide && end.sequence === from.sequence + WINDOW)),
  };
}

async function findNow(db: QueryRunner, encryption: Encryption): Promise<string> {
  const [bounds] = await db.query(feedBounds, [0, null]);
  return encodeCursor(encryption, toPosition(bounds?.end, bounds?.endHash));
}

/** Resolves a cursor. */
async function findStart(db: QueryRunner, encryption: Encryption, after: string | undefined): Promise<FeedPosition> {
  const positions = after === undefined ? [] : decodeCursor(encryption, after);
  if (after !== undefined && positions.length === 0) throw invalidInput('/after', 'Use `cursor` of a previous page.');
  const [first = null] = positions;
  for (const position of positions.length === 0 ? [null] : positions) {
    const [bounds] = await db.query(feedBounds, [position?.sequence ?? 0, null]);
    const start = toPosition(bounds?.start, bounds?.startHash);
    if (position === null) return start;
    const known = position.sequence === 0 ? GENESIS.hash : (bounds?.known ?? null);
    const isKnown = known?.startsWith(position.hash) === true && position.sequence >= start.sequence;
    if (isKnown) return { sequence: position.sequence, hash: known };
  }
  const [bounds] = await db.query(feedBounds, [first?.sequence ?? 0, null]);
  const oldestCursor = encodeCursor(encryption, toPosition(bounds?.start, bounds?.startHash));
  throw new ProblemError('cursor_expired', undefined, { oldestCursor });
}

const toPosition = (sequence: string | undefined, hash: string | null | undefined): FeedPosition => ({
  sequence: Number(sequence ?? 0),
  hash: hash ?? GENESIS.hash,
});

const ALL = Object.entries(EVENTS) as [EventName, EventDefinition][];
const OWN_TYPES = ALL.filter(([, { audience }]) => audience === 'account').map(([type]) => type);

/** Returns the types that a reader may see now. */
function visibleTypes(reader: FeedReader): EventName[] {
  const isVisible = ({ isDelivered, audience, scope, permission }: EventDefinition): boolean => {
    if (!isDelivered || reader.kind === 'operator') return isDelivered;
    if (scope !== null && !reader.scopes.includes(scope)) return false;
    if (reader.kind === 'account') return audience !== 'operator';
    return audience === 'team' && (permission === null || reader.permissions.includes(permission));
  };
  return ALL.filter(([, definition]) => isVisible(definition)).map(([type]) => type);
}

/** Converts a row. Feeds and deliveries show the same event with the same id. */
export function toDelivered(row: DeliveredRow, reader: Pick<FeedReader, 'kind'>): DeliveredEvent {
  const {
    id,
    occurredAt,
    actor,
    teamId,
    accountId,
    target,
    requestId,
    clientRequestId,
    data: details,
  } = serialize(row, reader.kind === 'operator' ? 'operator' : 'team');
  const { kind, id: actorId, credentialId, clientId } = actor;
  return {
    id,
    type: row.type,
    version: EVENTS[row.type]?.version ?? 1,
    occurredAt,
    actor: { kind, id: actorId, credentialId, clientId },
    teamId,
    accountId,
    // In the audit log, it is the role that the member has from then on. What teams do not see names the membership.
    target: EVENTS[row.type]?.target === 'membership' && EVENTS[row.type].audience === 'team' ? null : target,
    requestId,
    clientRequestId,
    details,
    data: reader.kind === 'operator' ? row.data : withoutOperatorFields(row.data),
  };
}
