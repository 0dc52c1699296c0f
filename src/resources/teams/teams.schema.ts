import { z } from 'zod';
import type { ActiveMembership } from '../../auth/principal.ts';
import type { Membership } from '../../entities/index.ts';
import { text, timestamp } from '../../procedures/fields.ts';

const teamName = text(1, 100);

export const createTeamBody = { name: teamName, description: text(0, 1000).optional() };
export const updateTeamBody = { name: teamName };

export const updateTeamDetailsInput = {
  description: text(0, 1000).nullable().optional(),
  avatarUrl: text(1, 2048)
    .check(({ value, issues }) => {
      if (!isHttpsUrl(value)) issues.push({ code: 'invalid_format', format: 'url', input: value });
    })
    .nullable()
    .optional(),
};

// The parser of URLs forgives blanks and line breaks, which no address has.
const isHttpsUrl = (value: string): boolean => /^https:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value);

export const teamOutput = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string().meta({ description: 'Derived from the name at creation; a rename does not change it.' }),
    description: z.string().nullable(),
    avatarUrl: z.string().nullable(),
    role: z.object({ id: z.string(), name: z.string() }).meta({ description: "The caller's role in the team." }),
  })
  .meta({ id: 'Team', description: 'A team, as the caller sees it.' });

export const presentTeam = ({ team, role }: Pick<ActiveMembership, 'team' | 'role'>) => ({ ...team, role });

/** The same of a membership whose team and role are loaded. */
export const presentTeamOf = ({ team, role }: Membership) =>
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

/** `taken` counts active members and pending invitations; it exceeds `seats` after a downgrade. */
export const seatsOutput = z.object({ taken: z.int(), seats: z.int(), planName: z.string() });

/** Null is what the caller's role does not let them see. Members are active ones, invitations pending ones. */
export const overviewOutput = seatsOutput.extend({
  members: z.int().nullable(),
  invitations: z.int().nullable(),
  apiKeys: z.int().nullable(),
});

/** The owner's offer of a team, as its members see it. */
export const ownershipOfferOutput = z.object({
  nominee: z.object({
    userId: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
  }),
  expiresAt: timestamp,
});

/** An offer of a team, as its nominee sees it. */
export const offeredTeamOutput = z.object({ teamId: z.string(), teamName: z.string(), expiresAt: timestamp });
