import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCluster, type Cluster, type Replica } from './cluster.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(() => cluster.close());

test('a replica that is killed after the effect and before the answer: the repetition gets the answer, and there is one effect', async () => {
  const [one, other] = cluster.replicas as [Replica, Replica];
  const { owner, key } = await cluster.make(async ({ anAccount, anApiKey }) => {
    const account = await anAccount();
    return { owner: account, key: await anApiKey(account, { scopes: ['teams:write'] }) };
  });
  // The commit takes until the lock is free, and goes on when the replica has gone.
  await cluster.rows(`create function commit_late() returns trigger language plpgsql
    as $$ begin perform pg_advisory_xact_lock(7); return null; end $$`);
  await cluster.rows(`create constraint trigger commit_late after insert on idempotency_key
    deferrable initially deferred for each row execute function commit_late()`);
  const send = (replica: Replica) =>
    fetch(`http://127.0.0.1:${replica.port}/api/v1/teams`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key.secret}`,
        'content-type': 'application/json',
        'idempotency-key': 'lost-answer',
      },
      body: '{"name":"Rockets"}',
    });
  const blocker = new pg.Client({ connectionString: cluster.postgres.url });
  await blocker.connect();
  await blocker.query('select pg_advisory_lock(7)');
  const lost = send(one).then(
    () => 'answered',
    () => 'cut off',
  );
  await expect
    .poll(() => cluster.rows(`select from pg_locks where locktype = 'advisory' and not granted`))
    .toHaveLength(1);
  await one.end('SIGKILL');
  const repeated = send(other);
  await blocker.end();

  expect(await lost).toBe('cut off');
  const answers = [await repeated, await send(other)];
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  const [first, second] = (await Promise.all(answers.map((answer) => answer.json()))) as { id: string }[];
  expect(second).toEqual(first);
  const teams = await cluster.rows<{ id: string }>('select team_id as id from membership where account_id = $1', [
    owner.id,
  ]);
  expect(teams).toEqual([{ id: first?.id }]);
});
