import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { aCaller, INPUTS, KINDS, send, WITH_ADDRESS, type Caller } from './address-procedures.ts';
import { allMailed, anAddress, aPerson, aService } from './people.ts';

// How many hashes there are, and of which scheme, is the matter of `sign-in-work.test.ts`.
vi.mock('../../src/crypto/hash-threads.ts', () => ({
  computeHash: (_name: string, _algorithm: string, { tagLength }: { tagLength: number }) =>
    Promise.resolve(randomBytes(tagLength)),
}));

const BATCH = 20;

const test = testWith(() =>
  startApi({ SIGN_IN_LIMIT: '1000000', LINK_MAILS_PER_HOUR: '1000', MAILS_PER_DAY_FROM_TEAM: '1000' }),
);

/** Uses of sessions and counted denials are written from time to time, not by the call. */
const FROM_TIME_TO_TIME: ReadonlySet<string> = new Set(['session_update_use', 'audit_event_insert_many']);

/** The work of the database: its statements in order, without the values of some that contain them. */
async function workOf(call: () => Promise<unknown>) {
  const queries = vi.spyOn(pg.Client.prototype, 'query').mockClear();
  const answer = await call();
  const statements = queries.mock.calls.map(([query]: unknown[]) => {
    const { text, name } = typeof query === 'string' ? { text: query } : (query as { text: string; name?: string }); // pg takes either
    return name ?? text.replaceAll(/'[^']*'/g, '?').replaceAll(/\$\d+|\b\d+\b/g, '?');
  });
  queries.mockRestore();
  return { answer, statements: statements.filter((statement) => !FROM_TIME_TO_TIME.has(statement)) };
}

/** What was stored for later and recorded, without the ids. */
async function traces(api: Api, since: string) {
  const jobs = await api.rows<{ task: string; members: string[] }>(
    `select t.identifier as task, array(select json_object_keys(j.payload) order by 1) as members
     from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id order by 1, 2`,
  );
  const events = await api.rows(
    `select event, details from audit_event where id > $1 and event not like '%denied' order by id`,
    [since],
  );
  await api.rows('delete from graphile_worker._private_jobs');
  // Of the seats that they take.
  await api.rows('delete from invitation');
  return { jobs, events };
}

const lastEvent = async (api: Api): Promise<string> =>
  (await api.rows<{ id: string | null }>('select max(id) as id from audit_event'))[0]?.id ?? '';

test('every procedure with an email address is known here', () => {
  expect(Object.keys(INPUTS).toSorted()).toEqual(WITH_ADDRESS.toSorted());
});

// Guarantees that neither answer, record nor time tells whether an address has an account: the work that takes the time
// is the same.
describe.each(WITH_ADDRESS)('%s', (path) => {
  const ofBatch = (email: string, caller: Caller) =>
    Array.from({ length: BATCH }, () => INPUTS[path]?.(email, caller) ?? {});

  test('does the same for addresses with any account and without one, alone, in a batch and in parallel', async ({
    api,
  }) => {
    const caller = await aCaller(api);
    const visitorOf = () => (path.startsWith('auth.') ? api.visitor() : caller.visitor);
    const observe = async (email: string) => {
      const since = await lastEvent(api);
      const one = await workOf(() => send(api, path, visitorOf(), ofBatch(email, caller).slice(0, 1)));
      const batch = await workOf(() => send(api, path, visitorOf(), ofBatch(email, caller)));
      const parallel = await workOf(() =>
        Promise.all(ofBatch(email, caller).map((input) => send(api, path, visitorOf(), [input]))),
      );
      return {
        one,
        batch: { ...batch, statements: batch.statements.toSorted() },
        parallel: { ...parallel, statements: parallel.statements.toSorted() },
        ...(await traces(api, since)),
      };
    };

    // Opens connections and loads modules.
    await observe(anAddress());
    const unknown = await observe(anAddress());
    for (const [kind, create] of Object.entries(KINDS)) {
      const email = await create(api, caller);
      await traces(api, '');
      expect({ kind, ...(await observe(email)) }).toEqual({ kind, ...unknown });
    }
  });
});

// Guarantees that the queue names nobody who has no account.
test('the job of a requested link holds the address encrypted, and goes with the account or when it is done', async () => {
  const api = await aService({ LINK_MAILS_PER_HOUR: '1000' });
  const requests = () =>
    api.rows<{ row: string }>(
      `select row_to_json(j)::text as row from graphile_worker._private_jobs j
         join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'sendRequestedLink'`,
    );
  const paths = ['auth.signUp', 'auth.resendVerification', 'auth.emailSignInLink', 'auth.forgotPassword'];
  const [unknown, { id, email }] = [anAddress(), await aPerson(api)];
  const caller = await aCaller(api);
  for (const path of paths)
    for (const address of [unknown, email])
      await send(api, path, api.visitor(), [INPUTS[path]?.(address, caller) ?? {}]);

  const waiting = (await requests()).map(({ row }) => row);
  expect(waiting).toHaveLength(2 * paths.length);
  expect(waiting.filter((row) => row.includes(unknown) || row.includes(email))).toEqual([]);

  await deleteAccount(api.services.db, 'system', id);
  expect(await requests()).toHaveLength(paths.length);
  await allMailed(api);
  expect(await requests()).toEqual([]);
});
