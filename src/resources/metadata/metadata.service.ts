import { isDeepStrictEqual } from 'node:util';
import { command, query } from '../../db/query.ts';
import { METADATA_BYTES_MAX, METADATA_PARTS, type JsonObject, type MetadataPart } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { EventFields } from '../../events/event.ts';
import { METADATA_EVENTS, ofPrivateMetadata } from '../../events/metadata-events.ts';
import { applyMergePatch, isShortEnough } from './metadata-patch.ts';
import type { OperatorCaller } from '../../transactions/caller.ts';
import { change } from '../../transactions/change.ts';
import { lockMembershipStep } from '../../transactions/lock-steps.ts';
import type { Change, TransactionScope } from '../../transactions/steps.ts';
import type { Metadata } from './metadata.queries.ts';

type Operating = OperatorCaller | 'system';

export type MetadataPatch = {
  readonly public?: JsonObject | null | undefined;
  readonly private?: JsonObject | null | undefined;
  /** The version that the caller has read, if another one must not be changed. */
  readonly version?: number | undefined;
};

/** The row whose metadata is changed, locked, and how its change is recorded. */
type Subject = {
  readonly table: keyof typeof METADATA_EVENTS;
  readonly id: string;
  readonly fields: EventFields;
};

/** Changes the metadata of an account. @throws account_not_found, version_mismatch, validation_failed */
export const updateAccountMetadata = (
  db: TransactionScope,
  caller: Operating,
  accountId: string,
  patch: MetadataPatch,
): Promise<void> =>
  change(db, caller, { on: { account: accountId }, requires: 'operator' }, (opened) =>
    apply(opened, patch, {
      table: 'account',
      id: accountId,
      fields: { accountId },
    }),
  );

/** Changes the metadata of a team. @throws team_not_found, version_mismatch, validation_failed */
export const updateTeamMetadata = (
  db: TransactionScope,
  caller: Operating,
  teamId: string,
  patch: MetadataPatch,
): Promise<void> =>
  change(db, caller, { on: { team: teamId }, requires: 'operator' }, (opened) =>
    apply(opened, patch, {
      table: 'team',
      id: teamId,
      fields: { teamId },
    }),
  );

/** Changes the metadata of a membership. @throws team_not_found, member_not_found, version_mismatch, validation_failed */
export const updateMemberMetadata = (
  db: TransactionScope,
  caller: Operating,
  teamId: string,
  accountId: string,
  patch: MetadataPatch,
): Promise<void> => {
  const reads = [[lockMembershipStep, [teamId, accountId]]] as const;
  const spec = { on: { team: teamId, andAccount: accountId }, requires: 'operator', reads } as const;
  return change(db, caller, spec, async (opened, [[membership]]) => {
    if (membership === undefined) throw new ProblemError('member_not_found');
    await apply(opened, patch, {
      table: 'membership',
      id: membership.id,
      fields: { teamId, accountId },
    });
  });
};

type Table = Subject['table'];

const byTable = <Declared>(declare: (table: Table) => Declared) =>
  ({ account: declare('account'), team: declare('team'), membership: declare('membership') }) as const;

const findMetadata = byTable((table) =>
  query<Metadata>(
    `${table}_find_metadata_to_change`,
    `select public_metadata as public, private_metadata as private, metadata_version as version from ${table} where id = $1`,
  ),
);

const storeMetadata = byTable((table) =>
  command<never>(
    `${table}_update_metadata`,
    `update ${table} set public_metadata = $2::json, private_metadata = $3::json, metadata_version = metadata_version + 1
     where id = $1`,
  ),
);

/** Merges a patch with the metadata of a locked row. What changes nothing has no event and no new version. */
async function apply(
  { run, later, record }: Change,
  patch: MetadataPatch,
  { table, id, fields }: Subject,
): Promise<void> {
  const [[known]] = await run([[findMetadata[table], [id]]]);
  if (known === undefined) throw new Error(`${table} ${id} is locked, but does not exist`);
  if (patch.version !== undefined && patch.version !== known.version)
    throw new ProblemError('version_mismatch', `The metadata has version ${known.version}.`);
  const texts = METADATA_PARTS.map((part) => toText(part, known[part], patch[part]));
  const changed = METADATA_PARTS.filter((part, i) => !isDeepStrictEqual(JSON.parse(texts[i] ?? ''), known[part]));
  if (changed.length === 0) return;
  later([storeMetadata[table], [id, ...texts]]);
  // Teams and accounts do not learn that there is a private part: its event names them as its target only.
  const events = METADATA_EVENTS[table];
  if (changed.includes('public')) record(events.public, fields);
  if (changed.includes('private')) record(events.private, ofPrivateMetadata(id, fields));
}

/** @throws validation_failed (400) if the part becomes too long */
function toText(part: MetadataPart, known: JsonObject, patch: JsonObject | null | undefined): string {
  if (patch === undefined) return JSON.stringify(known);
  const text = JSON.stringify(patch === null ? {} : applyMergePatch(known, patch));
  if (isShortEnough(text)) return text;
  const detail = `\`${part}\` would have ${Buffer.byteLength(text)} bytes of JSON; at most ${METADATA_BYTES_MAX} are stored.`;
  throw invalidInput(`/${part}`, detail, 'max_length', 'body', { max: METADATA_BYTES_MAX });
}
