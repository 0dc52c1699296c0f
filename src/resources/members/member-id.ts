import { z } from 'zod';
import { ProblemError } from '../../problems/error.ts';
import { resourceId } from '../../procedures/fields.ts';

const FORMER = 'The same as `accountId`, its present name.';

/** What names a member of a team in an input: `accountId`, or its former name. */
export const memberId = {
  accountId: resourceId.optional().meta({ description: 'The id of the account.' }),
  userId: resourceId.optional().meta({ deprecated: true, description: FORMER }),
};

type MemberId = { readonly accountId?: string | undefined; readonly userId?: string | undefined };

/** Returns the account that an input names. @throws validation_failed if it names none, or two */
export function accountIdOf({ accountId, userId }: MemberId): string {
  const id = accountId ?? userId;
  if (id === undefined) throw invalid('required');
  if (userId !== undefined && userId !== id) throw invalid('invalid_value');
  return id;
}

const invalid = (code: 'required' | 'invalid_value') =>
  new ProblemError('validation_failed', undefined, { errors: [{ in: 'body', pointer: '/accountId', code }] });

/** The id of an account in an output, also by its former name. */
export const accountIds = {
  accountId: z.string().meta({ description: 'The id of the account.' }),
  userId: z.string().meta({ deprecated: true, description: FORMER }),
};

/** Names an account in an output. */
export const toAccountIds = (id: string) => ({ accountId: id, userId: id });
