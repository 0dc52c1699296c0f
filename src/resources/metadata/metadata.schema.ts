import { z } from 'zod';
import type { JsonObject } from '../../entities/index.ts';
import { resourceId } from '../../procedures/fields.ts';
import { metadataPatch } from './metadata-patch.ts';
import { accountReference, teamReference } from '../operator/references.ts';

const object = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>; // JSON, which was checked when it was stored

export const accountMetadataInput = z.object({ accountId: accountReference });
export const teamMetadataInput = z.object({ teamId: teamReference });
export const memberMetadataInput = z.object({ teamId: teamReference, accountId: accountReference });

const patch = {
  public: metadataPatch.optional().meta({ description: 'What its readers see, as a merge patch. Null empties it.' }),
  private: metadataPatch.optional().meta({ description: 'What only you see, as a merge patch. Null empties it.' }),
  version: z.int().min(0).optional().meta({
    description: 'The version that you have read, the same as `If-Match`. With another one now, nothing changes.',
  }),
};

export const updateAccountMetadataInput = accountMetadataInput.extend(patch);
export const updateTeamMetadataInput = teamMetadataInput.extend(patch);
export const updateMemberMetadataInput = memberMetadataInput.extend(patch);

export const metadataOutput = z
  .object({
    public: object.meta({ description: 'What its readers see.' }),
    private: object.meta({ description: 'What only you see.' }),
    version: z.int().meta({ description: 'Counts the changes. 0 if there was none.' }),
  })
  .meta({ id: 'OperatorMetadata', description: 'The metadata of an account, team or membership.' });

export const publicMetadataOutput = z.object({ public: object });

/** The metadata of a team, and that of the caller's own membership. */
export const teamPublicMetadataOutput = z.object({ team: publicMetadataOutput, membership: publicMetadataOutput });

const MEMBERS_MAX = 100;

export const membersMetadataInput = { accountIds: z.array(resourceId).min(1).max(MEMBERS_MAX) };

/** Of those of the accounts that are members, in any order. */
export const membersPublicMetadataOutput = z.array(publicMetadataOutput.extend({ accountId: z.string() }));
