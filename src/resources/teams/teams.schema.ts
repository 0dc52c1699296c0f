import { z } from 'zod';
import type { ActiveMembership } from '../../access/principal.ts';
import { text } from '../../rpc/text.ts';

const teamName = text(1, 100);

export const createTeamBody = { name: teamName, description: text(0, 1000).optional() };
export const updateTeamBody = { name: teamName };

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
