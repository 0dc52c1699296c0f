import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readTextFile } from './text-file.ts';
import { COUNT_MAX, readBy } from './values.ts';

const plan = z.object({ id: z.string().min(1), name: z.string().min(1), seats: z.int().min(1).max(COUNT_MAX) });

/** The limits of a team. `seats` counts active members and pending invitations together. */
export type Plan = z.infer<typeof plan>;

export const BUILT_IN_PLANS: ReadonlyMap<string, Plan> = new Map([
  ['free', { id: 'free', name: 'Free', seats: 5 }],
  ['pro', { id: 'pro', name: 'Pro', seats: 50 }],
]);

/** Plans, read from a JSON file. */
export const plans = () =>
  readBy((file): ReadonlyMap<string, Plan> => {
    if (!existsSync(file)) throw new Error(`${file} does not exist`);
    try {
      const list = z.array(plan).parse(JSON.parse(readTextFile(file)));
      if (!list.some(({ id }) => id === 'free'))
        throw new Error('the plan "free" is missing, which is the default of new teams');
      return new Map(list.map((entry) => [entry.id, entry]));
    } catch (error) {
      const [reason] =
        error instanceof z.ZodError
          ? [describe(error)]
          : String(error instanceof Error ? error.message : error).split('\n');
      throw new Error(`${file} is not a list of { id, name, seats }: ${reason}`);
    }
  });

const describe = ({ issues: [issue] }: z.ZodError): string => `${issue?.path.join('.')} ${issue?.message}`;
