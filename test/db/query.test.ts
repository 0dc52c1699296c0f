import { describe, expect, onTestFinished } from 'vitest';
import { isUnavailable } from '../../src/db/errors.ts';
import { getPgConnection } from '../../src/db/pipeline/pg-internals.ts';
import { command, query } from '../../src/db/query.ts';
import { test, type Api } from '../support/api.ts';

const echo = query<{ value: number }>('test_echo', 'select $1::int as value');
const quotient = query<{ value: number }>('test_quotient', 'select 10 / $1::int as value');
const ending = query<{ value: boolean }>('test_ending', 'select pg_terminate_backend(pg_backend_pid()) as value');
const locking = query<{ value: number }>('test_locking', 'select 2 as value from pg_advisory_xact_lock_shared(4711)');
const running = query<{ count: number }>(
  'test_long',
  `select count(*)::int as count, pg_sleep(0.02)
   from pg_stat_activity where state = 'active' and query like '%test_long_probe%' /* test_long_probe */`,
  { rows: 'many' },
);

/** How a client of pg bounds the time of a query. */
type Timed = { readonly connectionParameters: { query_timeout: number } };

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

const sleeping = query<{ value: string }>('test_sleeping', `select 'slept' as value from pg_sleep(0.3)`);
const typed = query<Record<string, unknown>>(
  'test_typed',
  `select $1::text as words, 7 as number, true as flag, null as nothing, timestamptz '2026-01-02 03:04:05Z' as at,
     jsonb_build_object('a', 1) as object
   where $2::int = 1`,
);

describe('queries of one moment', () => {
  test('each get their own rows', async ({ api }) => {
    const { db } = api.services;

    const answers = await Promise.all(upTo(100).map((value) => db.query(echo, [value])));

    expect(answers).toEqual(upTo(100).map((value) => [{ value }]));
  });

  test('fail separately, whichever of them fail', async ({ api }) => {
    const { db } = api.services;

    const answers = await Promise.allSettled([5, 0, 1, 0, 0, 2, 0].map((divisor) => db.query(quotient, [divisor])));

    expect(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value[0]?.value : answer.reason.message)),
    ).toEqual([2, 'division by zero', 10, 'division by zero', 'division by zero', 5, 'division by zero']);
    expect(await db.query(echo, [7])).toEqual([{ value: 7 }]);
  });

  test('are sent again after one that PostgreSQL ended their connection for', async ({ api }) => {
    const { db } = api.services;

    const answers = await Promise.allSettled([db.query(echo, [1]), db.query(ending, []), db.query(echo, [2])]);

    expect(answers).toMatchObject([
      { status: 'fulfilled', value: [{ value: 1 }] },
      { status: 'rejected' },
      { status: 'fulfilled', value: [{ value: 2 }] },
    ]);
    for (const answer of answers) if (answer.status === 'rejected') expect(isUnavailable(answer.reason)).toBe(true);
  });

  test('that follow one that failed do not wait for each other any more', async ({ api }) => {
    const { db } = api.services;
    const holder = await db.pools.writes.connect();
    onTestFinished(() => holder.release(true));
    await holder.query('select pg_advisory_lock(4711)');

    const failing = db.query(quotient, [0]);
    const waiting = db.query(locking, []);
    const quick = db.query(echo, [1]);

    await expect(failing).rejects.toThrow('division by zero');
    expect(await quick).toEqual([{ value: 1 }]);
    await holder.query('select pg_advisory_unlock(4711)');
    expect(await waiting).toEqual([{ value: 2 }]);
  });

  test('all fail if their connection breaks, and the next ones get another', async ({ api }) => {
    const { db } = api.services;
    db.pools.reads.once('acquire', (client) => setImmediate(() => getPgConnection(client).stream.destroy()));

    const answers = await Promise.allSettled([db.query(sleeping, []), db.query(echo, [1]), db.query(echo, [2])]);

    for (const answer of answers) expect(answer.status === 'rejected' && isUnavailable(answer.reason)).toBe(true);
    expect(await db.query(echo, [7])).toEqual([{ value: 7 }]);
  });

  test('all fail if their connection does not answer in time, and the next ones get another', async ({ api }) => {
    const { db } = api.services;
    db.pools.reads.once('acquire', (client) =>
      Object.assign((client as unknown as Timed).connectionParameters, { query_timeout: 50 }),
    );

    const answers = await Promise.allSettled([db.query(echo, [1]), db.query(sleeping, []), db.query(echo, [2])]);

    for (const answer of answers) expect(answer.status === 'rejected' && isUnavailable(answer.reason)).toBe(true);
    expect(await db.query(echo, [7])).toEqual([{ value: 7 }]);
  });
});

describe('a query', () => {
  test('gives each type as the first time, also when that gave no rows', async ({ api }) => {
    const { db } = api.services;
    const row = { words: 'a b', number: 7, flag: true, nothing: null, at: '2026-01-02 03:04:05+00', object: { a: 1 } };

    expect(await db.query(typed, ['a b', 0])).toEqual([]);
    expect(await db.query(typed, ['a b', 1])).toEqual([row]);
    expect(await db.query(typed, ['a b', '1'])).toEqual([row]);
  });

  test('does not wait for those that take long', async ({ api }) => {
    const { db } = api.services;
    const order: string[] = [];

    const slow = upTo(3).map(() => db.query(sleeping, []).then(([row]) => order.push(row?.value ?? '')));
    await new Promise(setImmediate); // so that they leave in batches of their own
    const more = upTo(3).map(() => db.query(sleeping, []).then(([row]) => order.push(row?.value ?? '')));
    await new Promise(setImmediate);
    await db.query(echo, [1]).then(() => order.push('quick'));
    await Promise.all([...slow, ...more]);

    expect(order[0]).toBe('quick');
  });

  test('is rejected if another statement has its name, or if PostgreSQL cannot store a value', async ({ api }) => {
    const { db } = api.services;
    const other = { ...echo, text: 'select 2 as value' };
    const both = () => Promise.allSettled([db.query(echo, [1]), db.query(other, [])]);

    const [, refusal] = await both();

    expect(() => query('test_echo', 'select 2 as value')).toThrow('Two statements have the name test_echo.');
    expect(refusal).toMatchObject({ reason: { message: 'Two statements have the name test_echo.' } });
    await expect(db.query(echo, [new Date()])).rejects.toThrow('A parameter of a query cannot be of type object.');
    expect(await db.query(echo, [7])).toEqual([{ value: 7 }]);
  });
});

describe('queries of many rows', () => {
  test('of a job run one at a time, and all get their rows', async ({ api }) => {
    const answers = await Promise.all(upTo(8).map(() => api.services.db.query(running, [])));

    expect(answers.map(([row]) => row?.count)).toEqual(upTo(8).map(() => 1));
  });
});

const addTeam = command<never>(
  'test_add_team',
  `insert into team (id, name, slug, created_at, updated_at) values ($1, 'Team', $1, now(), now())`,
);

describe('a transaction of named statements', () => {
  const teams = (api: Api, like: string) => api.rows('select id from team where id like $1 order by id', [like]);

  test('commits what it ran and what it left for later, in this order', async ({ api }) => {
    const found = await api.services.db.transact(async ({ run, later }) => {
      later([addTeam, ['steps-1']]);
      const [values] = await run([[echo, [1]]]);
      later([addTeam, ['steps-2']]);
      return values;
    });

    expect(found).toEqual([{ value: 1 }]);
    expect(await teams(api, 'steps-%')).toEqual([{ id: 'steps-1' }, { id: 'steps-2' }]);
  });

  test('that is refused changes nothing, and its connection is free again', async ({ api }) => {
    const { db } = api.services;
    const refused = () =>
      db.transact(async ({ run }) => {
        await run([[addTeam, ['refused-1']]]);
        throw new Error('refused');
      });

    const answers = await Promise.allSettled(upTo(20).map(refused));

    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason.message)).toEqual(
      upTo(20).map(() => 'refused'),
    );
    expect(await teams(api, 'refused-%')).toEqual([]);
    expect(db.pools.writes.idleCount).toBe(db.pools.writes.totalCount);
  });

  test.for([
    ['with its last changes', [quotient, [0]], 'division by zero'],
    ['because its connection is lost', [ending, []], /terminat/],
  ] as const)('that fails %s changes nothing', async ([, failing, message], { api }) => {
    const { db } = api.services;
    const failed = db.transact(async ({ run, later }) => {
      await run([[addTeam, ['failed-1']]]);
      later(failing);
    });

    await expect(failed).rejects.toThrow(message);
    expect(await teams(api, 'failed-%')).toEqual([]);
    expect(await db.transact(({ run }) => run([[echo, [7]]]))).toEqual([[{ value: 7 }]]);
  });
});
