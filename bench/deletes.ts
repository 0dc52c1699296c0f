import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createTokens } from '../src/crypto/tokens.ts';
import { forgetPeak, peakMegabytes, residentMegabytes } from './proc.ts';
import type { Server } from './servers.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

const DELETES = [
  {
    title: 'OAuth client with 100,000 grants',
    owner: 'acc_owner-1',
    path: 'oauthClients.delete',
    input: { clientId: 'client_large' },
    left: `select count(*)::int as left from oauth_client where id = 'client_large'`,
  },
  {
    title: 'team with 10,000 members and grants',
    owner: 'acc_owner-2',
    path: 'teams.delete',
    input: { teamId: 'team_large' },
    left: `select count(*)::int as left from team where id = 'team_large'`,
  },
  {
    title: 'account among 3,000,000 sessions',
    owner: 'acc_owner-3',
    path: 'account.delete',
    input: undefined,
    left: `select count(*)::int as left from account where id = 'acc_owner-3'`,
  },
] as const;

export type DeleteRun = {
  readonly title: string;
  readonly answerMs: number;
  /** Until the last row is gone. */
  readonly doneMs: number;
  /** The slowest answer of `/readyz`, which asks the database, meanwhile. */
  readonly slowestMs: number;
  readonly grownMegabytes: number;
};

/** Deletes what has very many rows below it. */
export async function measureDeletes(stage: Stage): Promise<DeleteRun[]> {
  const { databaseUrl } = await stage.fillWith(
    'roster',
    readFileSync(new URL('data/deletes.sql', import.meta.url), 'utf8'),
  );
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const server = await stage.start('roster', 'roster');
  const runs: DeleteRun[] = [];
  for (const one of DELETES) runs.push(await measureDelete(client, server, one));
  await client.end();
  return runs;
}

type Delete = {
  readonly title: string;
  readonly owner: string;
  readonly path: string;
  readonly input: object | undefined;
  readonly left: string;
};

export async function measureDelete(client: pg.Client, server: Server, one: Delete): Promise<DeleteRun> {
  const cookie = await signIn(client, one.owner);
  const before = residentMegabytes(server.pid);
  forgetPeak(server.pid);
  const ended = new AbortController();
  const slowest = watch(server, ended.signal);
  const startedAt = performance.now();
  const answer = await fetch(`${server.url}/trpc/${one.path}`, {
    method: 'POST',
    headers: { cookie, origin: server.url.replace('127.0.0.1', 'localhost'), 'content-type': 'application/json' },
    body: JSON.stringify(one.input ?? {}),
  });
  const answerMs = performance.now() - startedAt;
  // A delete that takes longer than a statement may is refused, and everything stays.
  if (!answer.ok) process.stderr.write(`${one.path} answers ${answer.status}: ${await answer.text()}\n`);
  else while (((await client.query<{ left: number }>(one.left)).rows[0]?.left ?? 0) > 0) await sleep(20);
  const doneMs = answer.ok ? performance.now() - startedAt : NaN;
  ended.abort();
  const grownMegabytes = peakMegabytes(server.pid) - before;
  return { title: one.title, answerMs, doneMs, slowestMs: await slowest, grownMegabytes };
}

/** Starts a session with a recent proof. @returns its cookie */
export async function signIn(client: pg.Client, accountId: string): Promise<string> {
  const { secret, hash } = createTokens('rst').generate('session');
  await client.query(
    `insert into session (id, account_id, token_hash, authentication_type, created_at, proven_at, expires_at, idle_expires_at)
     values ($1, $2, $3, 'password', now(), now(), now() + interval '1 day', now() + interval '1 day')`,
    [`ses_${accountId}`, accountId, hash],
  );
  return `roster_session=${secret}`;
}

async function watch(server: Server, signal: AbortSignal): Promise<number> {
  let slowest = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    await fetch(`${server.url}/readyz`).then(
      (answer) => answer.text(),
      () => undefined,
    );
    slowest = Math.max(slowest, performance.now() - startedAt);
    await sleep(10);
  }
  return slowest;
}

export const deleteTable = (runs: readonly DeleteRun[]): string =>
  markdown([
    ['deleted', 'answer, ms', 'last row gone, ms', 'slowest /readyz meanwhile, ms', 'memory grows by, MB'],
    ...runs.map(({ title, ...run }) => [
      title,
      ...[run.answerMs, run.doneMs, run.slowestMs, run.grownMegabytes].map((value) =>
        Number.isNaN(value) ? '–' : value.toFixed(0),
      ),
    ]),
  ]);
