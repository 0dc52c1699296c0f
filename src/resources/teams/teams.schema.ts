import { z } from 'zod';
import type { ActiveMembership } from '../../auth/principal.ts';
import type { Membership } from '../../entities/index.ts';
import { pictureUrl, readableName, text, timestamp } from '../../procedures/fields.ts';
import { accountIds } from '../members/member-id.ts';

const teamName = text(1, 100);

export const createTeamBody = {
  name: teamName.meta({ description: 'The name of the team. Its slug is derived from it.' }),
  description: text(0, 1000).optional().meta({ description: 'A description of the team.' }),
};
export const updateTeamBody = { name: teamName.meta({ description: 'The new name of the team.' }) };

export const updateTeamDetailsInput = {
  name: readableName(1, 100).optional(),
  description: text(0, 1000).nullable().optional(),
  avatarUrl: pictureUrl.nullable().optional(),
};

export const teamOutput = z
  .object({
    id: z.string().meta({ description: 'The id of the team.' }),
    name: z.string().meta({ description: 'The name of the team.' }),
    slug: z.string().meta({ description: 'Derived from the name at creation; a rename does not change it.' }),
    description: z.string().nullable().meta({ description: 'A description of the team.' }),
    avatarUrl: z.string().nullable().meta({ description: 'The URL of a picture.' }),
    role: z
      .object({
        id: z.string().meta({ description: 'The id of the role.' }),
        name: z.string().meta({ description: 'The name of the role.' }),
      })
      .meta({ description: "The caller's role in the team." }),
  })
  .meta({ id: 'Team', description: 'A team, as the caller sees it.' });

export const presentTeam = ({ team, role }: Pick<ActiveMembership, 'team' | 'role'>) => ({ ...team, role });

/** Converts a membership whose team and role are loaded. */
export const presentTeamOfMembership = ({ team, role }: Membership) =>
  presentTeam({
    team: {
      id: team.id,
      name: team.name,
      slug: team.slug,
      description: team.description ?? null,
      avatarUrl: team.avatarUrl ?? null,
    },
    role: { id: role.id, name: role.name },
  });

/** `taken` counts active members and pending invitations. It can exceed `seats` after a downgrade. */
export const seatsOutput = z.object({ taken: z.int(), seats: z.int(), planName: z.string() });

/** Counts of active members, pending invitations and API keys. Null if the caller's role does not allow it. */
export const overviewOutput = seatsOutput.extend({
  members: z.int().nullable(),
  invitations: z.int().nullable(),
  apiKeys: z.int().nullable(),
  /** Keys that end within 14 days. */
  expiringKeys: z.int().nullable(),
});

/** What waits for the user. `count` is the number of keys that end, or of seats that are free. */
export const noticeOutput = z.object({
  kind: z.enum(['ownership', 'keys', 'seats']),
  /** Null for the user's own keys. */
  team: z.object({ id: z.string(), name: z.string(), slug: z.string(), seesBilling: z.boolean() }).nullable(),
  count: z.int(),
});

/** How many active members a team has. */
export const sizeOutput = z.object({ id: z.string(), members: z.int() });

/** An offer of ownership for the members of the team. */
export const ownershipOfferOutput = z.object({
  nominee: z.object({
    ...accountIds,
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
  }),
  expiresAt: timestamp,
});

/** An offer of ownership for its nominee. */
export const offeredTeamOutput = z.object({ teamId: z.string(), teamName: z.string(), expiresAt: timestamp });
