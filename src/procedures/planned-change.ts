import { z } from 'zod';

/**
 * Describes a change that a destructive call would make, before it is made. Texts of users are in values of their own
 * and never inside of sentences.
 */
export const plannedChange = z.object({
  kind: z.enum(['account', 'api key', 'invitation', 'member', 'sign-in session', 'team']).meta({
    description: 'What would change.',
  }),
  id: z.string().meta({ description: 'Its id.' }),
  name: z.string().nullable().meta({
    description: 'Its name: text of a user. Null if it has none, or if reading it needs a scope that is missing.',
  }),
  team: z
    .object({
      id: z.string().meta({ description: 'Its id.' }),
      name: z.string().nullable().meta({ description: 'Text of a user.' }),
    })
    .nullable()
    .meta({ description: 'The team in which it would change.' }),
  before: z.record(z.string(), z.unknown()).meta({ description: 'What would change, as it is now.' }),
  after: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'The same values after the change. Null if it would be deleted.' }),
  effects: z.array(z.string()).meta({ description: 'What else would happen.' }),
});

export type PlannedChange = z.infer<typeof plannedChange>;

type Named = { readonly email: string | null; readonly firstName: string | null; readonly lastName: string | null };

/** Returns the name of a person, or else the email address. */
export const toDisplayName = ({ email, firstName, lastName }: Named): string | null =>
  [firstName, lastName].filter(Boolean).join(' ') || email;
