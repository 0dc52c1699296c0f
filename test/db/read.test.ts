import { describe, expect } from 'vitest';
import { isUnavailable } from '../../src/db/database.ts';
import { brief, long } from '../../src/db/read.ts';
import { test } from '../support/api.ts';

const echo = brief<{ value: number }>('test_echo', 'select $1::int as value');
const quotient = brief<{ value: number }>('test_quotient', 'select 10 / $1::int as value');
const ending = brief<{ value: boolean }>('test_ending', 'select pg_terminate_backend(pg_backend_pid()) as value');
const running = long<{ count: number }>(
  'test_long',
  `select count(*)::int as count, pg_sleep(0.02)
   from pg_stat_activity where state = 'active' and query like '%test_long_probe%' /* test_long_probe */`,
);

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('brief reads of one moment', () => {
  test('each get their own rows', async ({ api }) => {
    const { read } = api.services.db;

    const answers = await Promise.all(upTo(100).map((value) => read(echo, [value])));

    expect(answers).toEqual(upTo(100).map((value) => [{ value }]));
  });

  test('fail alone', async ({ api }) => {
    const { read } = api.services.db;

    const answers = await Promise.allSettled([0, 1, 0, 2, 5].map((divisor) => read(quotient, [divisor])));

    expect(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value[0]?.value : answer.reason.message)),
    ).toEqual(['division by zero', 10, 'division by zero', 5, 2]);
    expect(await read(echo, [7])).toEqual([{ value: 7 }]);
  });

  test('are all told when their connection is lost, and the next ones get another', async ({ api }) => {
    const { read } = api.services.db;

    const answers = await Promise.allSettled([read(echo, [1]), read(ending, []), read(echo, [2])]);

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const answer of answers) if (answer.status === 'rejected') expect(isUnavailable(answer.reason)).toBe(true);
    expect(await read(echo, [7])).toEqual([{ value: 7 }]);
  });
});

describe('long reads', () => {
  test('run four at a time, and all get their rows', async ({ api }) => {
    const answers = await Promise.all(upTo(16).map(() => api.services.db.read(running, [])));

    const counts = answers.map(([row]) => row?.count ?? 0);
    expect(Math.max(...counts)).toBe(4);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
});
