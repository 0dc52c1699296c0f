import { isLiveOperatorKey } from '../../auth/operator.ts';
import { currentCaller } from '../../db/turns/request-caller.ts';
import { ProblemError } from '../../problems/error.ts';
import { createEventExample } from '../../events/feed/example.ts';
import { operatorKeyProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { toAccountId, toTeamId } from '../operator/references.ts';
import { operatorFeedInput, feedOutput, parseTypes } from './events.schema.ts';
import { readOrWait } from './read-or-wait.ts';

/** The events of all teams and accounts, for operator keys. */
export const eventsOperatorRouter = router({
  listEvents: operatorKeyProcedure('events:read')
    .meta(
      endpoint('listEvents', 'GET /operator/v1/events', {
        summary: 'Read the events of all teams and accounts',
        description:
          'In the order of their commits, without gaps. Store `cursor` with what was processed, and go on from it. With `wait`, a call that finds nothing new is answered as soon as there is something, or after so many seconds; a key can have three such calls at a time, more are answered immediately.',
        returns: 'Events after the cursor, the oldest first.',
        errors: ['cursor_expired', 'team_not_found', 'account_not_found'],
        example: { answer: { events: [createEventExample('team.created')], cursor: 'q2hV0m…', hasMore: false } },
      }),
    )
    .input(operatorFeedInput)
    .output(feedOutput)
    .query(async ({ ctx: { services, operator }, input: { teamId, accountId, types, ...input }, signal }) => {
      const named = types === undefined ? undefined : parseTypes(types);
      const of = {
        kind: 'operator' as const,
        teamId: teamId && (await toTeamId(services.db, teamId)),
        accountId: accountId && (await toAccountId(services.db, accountId)),
      };
      return readOrWait(services, {
        ...input,
        types: named,
        caller: operator.credentialId,
        // Over REST there is no signal of tRPC's.
        signal: signal ?? currentCaller()?.over,
        findReader: async () => {
          if (!(await isLiveOperatorKey(services.db, operator))) throw new ProblemError('credential_invalid');
          return of;
        },
      });
    }),
});
