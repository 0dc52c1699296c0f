import type { JsonObject } from '../entities/index.ts';

type Columns = readonly [shown: JsonObject, hidden: JsonObject];

/** What look-ups of a credential read of its metadata, if they are asked for it. */
export type MetadataColumns = {
  account_metadata: Columns;
  team_metadata: Columns | null;
  membership_metadata: Columns | null;
};

const metadataOf = (row: string) => `json_build_array(${row}.public_metadata, ${row}.private_metadata)`;

/** Of the account `a`. */
export const ACCOUNT_METADATA = `${metadataOf('a')} as account_metadata`;
/** Of the membership `m` and its team `t`. */
export const MEMBERSHIP_METADATA = `${metadataOf('t')} as team_metadata, ${metadataOf('m')} as membership_metadata`;

type Parts = { readonly public: JsonObject; readonly private: JsonObject };

/** The metadata of the account, and of the team and the membership if the look-up found them. */
export type DescribedMetadata = {
  readonly account: Parts;
  readonly team: Parts | null;
  readonly membership: Parts | null;
};

/** @returns undefined if the look-up was not asked for metadata */
export function toDescribedMetadata({
  account_metadata: account,
  team_metadata: team = null,
  membership_metadata: membership = null,
}: Partial<MetadataColumns>): DescribedMetadata | undefined {
  if (account === undefined) return undefined;
  return { account: toParts(account), team: team && toParts(team), membership: membership && toParts(membership) };
}

const toParts = ([shown, hidden]: Columns): Parts => ({ public: shown, private: hidden });
