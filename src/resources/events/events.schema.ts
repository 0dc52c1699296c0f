import { z } from 'zod';
import type { EventName } from '../../events/catalogue.ts';
import { invalidInput } from '../../problems/error.ts';
import { eventOutput } from '../../events/feed/event-schema.ts';
import { text } from '../../procedures/fields.ts';
import { INSTALLATION_TYPES, TEAM_TYPES } from '../../webhooks/types.ts';
import { accountReference, teamReference } from '../operator/references.ts';

/** The longest wait, in seconds. Proxies commonly close connections that are silent for 30 s or more. */
const WAIT_MAX = 20;

const AFTER =
  '`cursor` of the previous page, or `now` to begin after the newest event. Without it, the oldest event is the first.';

const TYPES = { description: 'Only events of these types. Without it, all.' };

export const feedInput = {
  after: z.string().max(100).optional().meta({ description: AFTER }),
  limit: z.int().min(1).max(100).default(50).meta({ description: 'The most events of a page.' }),
  types: z.array(z.enum(INSTALLATION_TYPES)).min(1).max(INSTALLATION_TYPES.length).optional().meta(TYPES),
  wait: z.int().min(0).max(WAIT_MAX).default(0).meta({ description: 'Seconds to wait if there is nothing new.' }),
};

/** A team has no events of other types. */
export const teamFeedInput = {
  ...feedInput,
  types: z.array(z.enum(TEAM_TYPES)).min(1).max(TEAM_TYPES.length).optional().meta(TYPES),
};

export const feedOutput = z
  .object({
    events: z.array(eventOutput).describe('The oldest first.'),
    cursor: z.string().meta({ description: 'Where to go on. Store it once the events are processed.' }),
    hasMore: z.boolean().meta({ description: 'Whether to go on at once.' }),
  })
  .meta({ id: 'EventPage', description: 'A page of a feed.' });

const TYPES_LENGTH_MAX = 5000;

/** The query of the operator API, in which every value is text or a number. */
export const operatorFeedInput = z.object({
  after: text(1, 100).optional().meta({ description: AFTER, example: 'q2hV0mR4' }),
  limit: z.int().min(1).max(100).default(50).meta({ description: 'The most events of a page.', example: 50 }),
  types: text(1, TYPES_LENGTH_MAX).optional().meta({
    description: 'Names of events, separated by commas. Without it, all.',
    example: 'team.created,member.added',
  }),
  teamId: teamReference.optional().meta({
    description: 'Only events of this team: its id, or `ext:` and its external id.',
    example: 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e',
  }),
  accountId: accountReference.optional().meta({
    description: 'Only events about this account: its id, or `ext:` and its external id.',
    example: 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol',
  }),
  wait: z
    .int()
    .min(0)
    .max(WAIT_MAX)
    .default(0)
    .meta({ description: 'How many seconds to wait if there is nothing new.', example: 20 }),
});

/** Parses a list of names. @throws validation_failed (400) */
export function parseTypes(list: string): EventName[] {
  return list.split(',').map((word) => {
    const type = INSTALLATION_TYPES.find((name) => name === word.trim());
    if (type === undefined) throw invalidInput('/types', `${JSON.stringify(word)} is no event that feeds contain.`);
    return type;
  });
}
