import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { MUTATIONS } from '../events/mutations.ts';
import { startApi, test, type Api } from '../support/api.ts';
import { anOwner, methodsOf, outcomeIn, pathOf, SIGN_UPS, STATES, WAYS, type State } from './sessions-started.ts';

type Procedure = { readonly _def: { readonly meta?: Meta } };

const DECLARED = (Object.entries(appRouter._def.procedures) as unknown as [string, Procedure][]) // flat by path
  .filter(([, { _def }]) => _def.meta?.authenticates !== undefined)
  .map(([path]) => path)
  .toSorted();

/** Services with each other setting of `SIGNUP`. */
const others = new Map<string, Api>();

beforeAll(async () => {
  for (const signup of ['closed', 'invited']) others.set(signup, await startApi({ SIGNUP: signup }));
});

afterAll(async () => {
  for (const api of others.values()) await api.close();
});

const CELLS = Object.entries(WAYS).flatMap(([way, { prepare, outcomes }]) =>
  (Object.keys(STATES) as State[]).map((state) => ({ way, state, prepare, outcome: outcomes[state] })),
);

test('every procedure that can authenticate its caller is in the table', () => {
  expect([...new Set(Object.keys(WAYS).map(pathOf))].toSorted()).toEqual(DECLARED);
  expect(DECLARED.length).toBeGreaterThanOrEqual(8);
  expect(CELLS.length).toBeGreaterThanOrEqual(77);
});

// `test/events/events.gate.test.ts` calls each mutation and compares the events that it records with this list.
test('no other mutation starts a session or adds a proof', () => {
  const authenticating = MUTATIONS.filter(([, events]) =>
    events.some((event) => event === 'session.created' || event === 'session.proven'),
  ).map(([name]) => name);
  expect(authenticating.toSorted()).toEqual(DECLARED);
});

describe('what a way into a session proves', () => {
  test.for(CELLS)('$way, $state: $outcome', async ({ way, state, prepare, outcome }, { api: open }) => {
    const api = (state === 'closed' && others.get('closed')) || open;
    const owner = await anOwner(api);
    const { visitor, call } = await prepare(api, owner);
    await STATES[state](api, owner);
    const startedBefore = await startedSessions(api, owner);
    const methodsBefore = await methodsOf(api, owner.home);

    expect(await outcomeIn(api, visitor, call)).toBe(outcome);

    if (isMethods(outcome)) return;
    expect(await startedSessions(api, owner), way).toEqual(startedBefore);
    expect(await methodsOf(api, owner.home)).toBe(methodsBefore);
  });

  test.for(
    Object.entries(SIGN_UPS).flatMap(([way, { call, outcomes }]) =>
      (['open', 'invited', 'closed'] as const).map((signup) => ({ way, signup, call, outcome: outcomes[signup] })),
    ),
  )('$way without an account, SIGNUP=$signup: $outcome', async ({ signup, call, outcome }, { api: open }) => {
    const api = others.get(signup) ?? open;
    const visitor = api.visitor();

    expect(await outcomeIn(api, visitor, () => call(api, visitor))).toBe(outcome);
    expect(await methodsOf(api, visitor)).toBe(isMethods(outcome) ? outcome : 'no session');
  });
});

const isMethods = (outcome: string): boolean => /^(link|password|passkey)( |$)/.test(outcome);

const startedSessions = (api: Api, { id }: { readonly id: string }) =>
  api.rows(
    `select s.id, s.proofs from session s where s.account_id = $1
     union all select e.target_id, e.details from audit_event e
     where e.event in ('session.created', 'session.proven') and e.details ? 'methods' and e.account_id = $1 order by 1`,
    [id],
  );
