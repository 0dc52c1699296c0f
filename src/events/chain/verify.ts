import {
  newestCheckpoint,
  readCheckpoints,
  findSignerIndex,
  type ChainServices,
  type StoredCheckpoint,
} from './checkpoints.ts';
import { faultAt, type Fault } from './faults.ts';
import { checkGuards } from './guards.ts';
import { CANONICAL, type CanonicalRow } from './event-columns.ts';
import { GENESIS, nextPosition, type ChainPosition } from './hash-chain.ts';
import { instant } from './root.ts';
import { findHeadSigner, HEAD_COLUMNS, toHead } from './head.ts';
import { readOldRoot, ROOT_SIGNED, wasRootSigned } from './sign-root.ts';
import { checkUnlinked } from './pending.ts';
import { pinSearchPath } from './search-path.ts';
import { inSnapshot, type Sql } from './sql.ts';
import { findRootProblem, isRootUnsigned, signedEnd } from './state.ts';

const PAGE = 2000;

/** An event is chained within a second. After this long it is reported as late. */
const LATE_MS = 3_600_000;
/** A chain that is younger than its accounts or events by more than this was restarted. */
const RESTART_MS = 86_400_000;

/** A finding that can be harmless: the number of its events, and the first of them. */
export type Notice = { readonly count: number; readonly sequence: number | null; readonly eventId: string | null };

export type Verification = {
  /** The first fault. */
  readonly fault: Fault | null;
  readonly faults: readonly Fault[];
  /** The number of events that were compared with the chain, and of those not chained yet. */
  readonly events: number;
  readonly pending: number;
  readonly end: ChainPosition;
  /** The position before the first event: retention has deleted what was up to there. */
  readonly root: ChainPosition;
  /** False until this version has signed the beginning of a chain of one before. */
  readonly isRootSigned: boolean;
  /** Events that were chained long after they happened: the worker did not run, or they were inserted later. */
  readonly late: Notice;
  /** Events without a MAC, recorded before an upgrade. */
  readonly unsigned: Notice;
  /** Whether the first of SECRET_KEYS signed the newest checkpoint, so that the other keys can be dropped. */
  readonly isSignedByFirstKey: boolean;
};

/** A position from the log. With the beginning, that was signed then. */
export type KnownPosition = ChainPosition & { readonly root?: number };

/**
 * Recomputes the chain from the events in one snapshot and compares it with what is stored. Only its end
 * and the newest checkpoint have to be signed by one of SECRET_KEYS, because their hashes cover everything before.
 * @param known a position from the log, which reveals whether the end was cut off after it
 */
export async function verifyAudit(services: ChainServices, known?: KnownPosition): Promise<Verification> {
  return inSnapshot(services.db.pools.writes, (sql) => verify(sql, services, known));
}

async function verify(tx: Sql, services: ChainServices, known?: KnownPosition): Promise<Verification> {
  const shadows = await pinSearchPath(tx);
  const last = await newestCheckpoint(tx);
  const [headRow] = await tx.execute<NonNullable<Parameters<typeof toHead>[0]>[]>(
    `select ${HEAD_COLUMNS} from audit_head`,
  );
  const head = toHead(headRow);
  // That of a version before counts only on a chain that no version has signed it on.
  const oldRoot = isRootUnsigned({ head, checkpoint: last }) ? await readOldRoot(tx, services.encryption) : null;
  const { sequence, hash } = head?.root ?? last?.root ?? oldRoot ?? GENESIS;
  const root = { sequence, hash };
  const walk = new ChainWalk(services, root, known);
  await walk.run(tx);
  const isKnownSigned = known?.root !== undefined || walk.isRootSigned || (await wasRootSigned(tx));
  const rootProblem =
    findRootProblem({ head, checkpoint: last }, isKnownSigned) ??
    (known?.root !== undefined && known.root > root.sequence ? 'root_differs' : null);
  const signers = [
    ...(last === undefined ? [] : [{ sequence: last.sequence, key: findSignerIndex(services.encryption, last) }]),
    ...(head === null ? [] : [{ sequence: head.sequence, key: findHeadSigner(services.encryption, head) }]),
  ];
  const pending = await checkUnlinked(tx, services.encryption, last);
  const faults = [
    ...[walk.fault ?? endFault(walk.end, signedEnd({ head, checkpoint: last }), known)].filter(
      (fault) => fault !== null,
    ),
    ...(rootProblem === null ? [] : [faultAt(rootProblem, root.sequence)]),
    ...signers.filter(({ key }) => key === -1).map(({ sequence }) => faultAt('checkpoint_not_signed', sequence)),
    ...(await findRestart(tx, last)),
    ...pending.faults,
    ...[...shadows, ...(await checkGuards(tx, services.db.orm))].map(({ kind, trigger }) => ({
      ...faultAt(kind, null),
      trigger,
    })),
  ];
  return {
    fault: faults[0] ?? null,
    faults,
    events: walk.end.sequence - root.sequence,
    pending: pending.count,
    end: walk.end,
    root,
    isRootSigned: !isRootUnsigned({ head, checkpoint: last }),
    late: walk.late,
    unsigned: walk.unsigned,
    isSignedByFirstKey: signers.every(({ key }) => key === 0),
  };
}

/** Checks that the chain ends where it was signed last, and not before a known position. */
function endFault(end: ChainPosition, last: ChainPosition, known: ChainPosition | undefined): Fault | null {
  if (last.sequence < end.sequence) return faultAt('end_not_signed', last.sequence + 1);
  if (last.sequence === end.sequence && last.hash !== end.hash) return faultAt('checkpoint_differs', last.sequence);
  const expected = Math.max(last.sequence, known?.sequence ?? 0);
  return expected > end.sequence ? faultAt('end_missing', end.sequence + 1) : null;
}

/**
 * Finds a restarted chain: its signed start is later than events or accounts that it has to cover. Where nothing is signed,
 * because everything was deleted or nothing was numbered yet, the events have to begin with the accounts.
 */
async function findRestart(tx: Sql, last: StoredCheckpoint | undefined): Promise<Fault[]> {
  const [oldest] = await tx.execute<{ at: string | null; begins: string; links: boolean }[]>(
    `select to_char(least(
         (select e.occurred_at from audit_link l join audit_event e on e.id = l.event_id order by l.sequence limit 1),
         (select min(a.created_at) from account a where a.created_at > (
           select executed_at from mikro_orm_migrations where name like '%_audit_log' limit 1))
       ) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
       ${instant(`coalesce((select min(occurred_at) from audit_event where not exists (select from audit_checkpoint)), now())`)}
         as begins,
       exists (select from audit_link) as links`,
  );
  if (last === undefined && oldest?.links) return [faultAt('checkpoint_missing', 1)];
  const covered = oldest?.at ?? null;
  const startedAt = last === undefined ? (oldest?.begins ?? null) : last.startedAt;
  if (startedAt === null || covered === null) return [];
  return Date.parse(startedAt) - Date.parse(covered) > RESTART_MS ? [faultAt('chain_restarted', 1)] : [];
}

type LinkRow = CanonicalRow & { sequence: string; hash: string; event_id: string };

/** Verifies the chain from a root to its end, or to the first link or checkpoint that differs. */
class ChainWalk {
  fault: Fault | null = null;
  end: ChainPosition;
  /** Whether an event says that the beginning of the chain is signed. */
  isRootSigned = false;
  late: Notice = { count: 0, sequence: null, eventId: null };
  unsigned: Notice = { count: 0, sequence: null, eventId: null };
  readonly #services: ChainServices;
  readonly #known: ChainPosition | undefined;

  constructor(services: ChainServices, start: ChainPosition, known: ChainPosition | undefined) {
    this.#services = services;
    this.#known = known;
    this.end = { sequence: start.sequence, hash: start.hash };
  }

  async run(tx: Sql): Promise<void> {
    // Start at the first link, so that links before the root are checked too.
    for (let after = -1; this.fault === null;) {
      const rows = await tx.execute<LinkRow[]>(
        `select l.sequence, encode(l.hash, 'hex') as hash, l.event_id, ${CANONICAL}
         from audit_link l left join audit_event e on e.id = l.event_id
         where l.sequence > ? order by l.sequence limit ?`,
        [after, PAGE],
      );
      const last = Number(rows.at(-1)?.sequence ?? after);
      // Read up to the checkpoint at the end of the last event's batch.
      const checkpoints = await readCheckpoints(
        tx,
        `sequence > ? and sequence <= coalesce((select min(sequence) from audit_checkpoint where sequence >= ?), ?)
         order by sequence`,
        [this.end.sequence, last, last],
      );
      this.#page(rows, checkpoints);
      if (rows.length < PAGE) return;
      after = this.end.sequence;
    }
  }

  #page(rows: readonly LinkRow[], checkpoints: readonly StoredCheckpoint[]): void {
    let i = 0;
    const signers = new Map<StoredCheckpoint, boolean>();
    const isVerified = (checkpoint: StoredCheckpoint) => {
      const known = signers.get(checkpoint) ?? findSignerIndex(this.#services.encryption, checkpoint) >= 0;
      signers.set(checkpoint, known);
      return known;
    };
    for (const row of rows) {
      const expected = this.end.sequence + 1;
      while (checkpoints[i] !== undefined && Number(checkpoints[i]?.sequence) < expected) i += 1;
      const checkpoint = checkpoints[i];
      this.fault = this.#step(row, expected, checkpoint);
      if (this.fault !== null) return;
      if (row.event === ROOT_SIGNED) this.isRootSigned = true;
      if (checkpoint === undefined) continue;
      // The time of a checkpoint is not trustworthy if its key was removed from SECRET_KEYS.
      if (isVerified(checkpoint) && Date.parse(checkpoint.createdAt) - Date.parse(row.occurred_at) > LATE_MS)
        this.late = noted(this.late, row, expected);
      if (row.mac === null && checkpoint.startedAt !== null) this.unsigned = noted(this.unsigned, row, expected);
    }
  }

  #step(row: LinkRow, expected: number, checkpoint: StoredCheckpoint | undefined): Fault | null {
    if (Number(row.sequence) !== expected) return faultAt('link_missing', expected);
    if (row.id === null) return faultAt('event_missing', expected, row.event_id);
    const next = nextPosition(this.end, row);
    if (next.hash !== row.hash) return faultAt('event_changed', expected, row.event_id);
    const isAsSigned = checkpoint?.sequence !== expected || checkpoint.hash === next.hash;
    const isAsKnown = this.#known?.sequence !== expected || this.#known.hash === next.hash;
    if (!isAsSigned || !isAsKnown) return faultAt('checkpoint_differs', expected);
    this.end = next;
    return null;
  }
}

const noted = (notice: Notice, row: LinkRow, sequence: number): Notice =>
  notice.count === 0 ? { count: 1, sequence, eventId: row.event_id } : { ...notice, count: notice.count + 1 };
