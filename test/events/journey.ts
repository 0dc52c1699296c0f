import type { OperatorScope } from '../../src/entities/index.ts';
import { as, outcomeOf } from '../trpc/console.ts';
import { anAddress } from '../trpc/people.ts';
import { declarePermissions } from '../trpc/product-permissions.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import type { Api } from '../support/api.ts';
import { CATALOGUE, OPERATOR_STEPS } from './operator-steps.ts';
import type { Choice, Steps } from './step.ts';
import { USER_STEPS } from './user-steps.ts';

/**
 * The ways in which accounts, teams, members, roles and invitations change, by the name of the procedure, and after a
 * colon what is special. `copied-tables.test.ts` compares them with the router.
 */
export const STEPS: Steps = { ...OPERATOR_STEPS, ...USER_STEPS };

const SCOPES: readonly OperatorScope[] = ['accounts:write', 'teams:write', 'billing:write'];
const NAMES_OF_STEPS = Object.keys(STEPS);

/** Makes the changes of a journey one after the other. A change that is refused is part of it. */
export async function createTraveller(api: Api) {
  const operator = api.as(await api.anOperatorKey());
  const upload = api.as(await api.anOperatorKey({ scopes: SCOPES }));
  const done = new Map<string, number>();
  await declarePermissions(api, CATALOGUE);
  for (let i = 0; i < 4; i += 1)
    await operator.post('/operator/v1/accounts', { email: anAddress(), isEmailVerified: true });

  async function go({ step, a, b, c }: Choice): Promise<void> {
    const name = NAMES_OF_STEPS[step % NAMES_OF_STEPS.length] ?? '';
    const accounts = await api.rows<{ id: string; email: string }>(
      'select id, email from account order by id desc limit 5',
    );
    const teams = await api.rows<{ id: string; owner: string }>(
      `select t.id, m.account_id as owner from team t join membership m on m.team_id = t.id and m.role_id = 'owner'
       order by t.id desc limit 3`,
    );
    const at = <Row>(rows: readonly Row[], index: number) => rows[index % Math.max(1, rows.length)];
    const [account, other, team] = [at(accounts, a), at(accounts, b), at(teams, a + b)];
    const roles = await api.rows<{ id: string }>('select id from role where team_id = $1 order by id', [
      team?.id ?? '',
    ]);
    const members = await api.rows<{ id: string; email: string }>(
      `select a.id, a.email from membership m join account a on a.id = m.account_id
       where m.team_id = $1 and m.role_id <> 'owner' order by m.id`,
      [team?.id ?? ''],
    );
    const member = at(members, b);
    const actor = account ?? { id: 'acc_none', email: 'none@example.com' };
    const isDone = await takesEffect(
      STEPS[name]?.({
        api,
        operator,
        upload,
        trpc: () => as(api, actor),
        rest: async () => api.as(await api.anApiKey({ id: team?.owner ?? actor.id }, { scopes: ALL_SCOPES })),
        ownerTrpc: () => as(api, { id: team?.owner ?? actor.id }),
        email: actor.email,
        account: actor.id,
        other: other?.id ?? 'acc_none',
        otherEmail: other?.email ?? 'none@example.com',
        member: member?.id ?? actor.id,
        memberEmail: member?.email ?? actor.email,
        team: team?.id ?? 'team_none',
        owner: team?.owner ?? actor.id,
        role: at([{ id: 'member' }, { id: 'guest' }, ...roles], c)?.id ?? 'member',
        c,
      }),
    );
    if (isDone) done.set(name, (done.get(name) ?? 0) + 1);
  }
  return { go, done, operator };
}

/** Returns whether a step took effect. @throws if it failed otherwise than by a refusal */
async function takesEffect(call: Promise<unknown> | undefined): Promise<boolean> {
  let answer: { status?: number; body?: unknown; code?: number } | undefined;
  const outcome = await outcomeOf(
    Promise.resolve(call).then((result) => (answer = result as typeof answer)), // of REST, a command or tRPC
  );
  if (outcome === 'internal_error' || (answer?.status ?? 0) >= 500) throw new Error(JSON.stringify(answer?.body));
  return outcome === 'done' && (answer?.status ?? 0) < 400 && (answer?.code ?? 0) === 0;
}
