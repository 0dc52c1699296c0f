import type { MetadataPart } from '../entities/index.ts';
import type { EventName } from './catalogue.ts';
import type { EventFields } from './event.ts';

/** The events of changes of the metadata of a table. */
export const METADATA_EVENTS = {
  account: { public: 'account.metadata_changed', private: 'account.private_metadata_changed' },
  team: { public: 'team.metadata_changed', private: 'team.private_metadata_changed' },
  membership: { public: 'member.metadata_changed', private: 'member.private_metadata_changed' },
} as const satisfies Record<string, Readonly<Record<MetadataPart, EventName>>>;

/** Returns what tells the operator alone whose private metadata changed. */
export const ofPrivateMetadata = (id: string, { teamId, accountId }: EventFields): EventFields => ({
  metadataOf: id,
  ...(teamId && accountId && { memberTeamId: teamId, memberAccountId: accountId }),
});
