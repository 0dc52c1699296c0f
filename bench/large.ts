import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LARGE_ABUSES } from './large-abuses.ts';
import { startLoadGenerator, type Load, type LoadResult } from './load-client.ts';
import { cpuSecondsOf, familyOf } from './proc.ts';
import { answerTo, byKey, type RequestName } from './requests.ts';
import type { Server } from './servers.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

/** What the tenant asks for, evenly. */
const PACE: Readonly<Record<'teams' | 'patch', number>> = { teams: 100, patch: 20 };
const TENANTS = 32;
/** The tables whose indexes are built after their rows. */
const TABLES = ['account', 'membership', 'oauth_grant', 'oauth_token', 'oauth_token_family', 'session', 'team'];

type Seen = Readonly<Record<keyof typeof PACE, LoadResult>> & {
  /** Of the service's event loop. */
  readonly longestDelayMs: number;
  /** Cores that the process of the service and PostgreSQL used. */
  readonly cores: Readonly<Record<'service' | 'postgres', number>>;
};
export type LargeRun = {
  readonly title: string;
  readonly postgres: string;
  readonly alone: Seen;
  readonly beside: Seen;
};

/** What a tenant notices of work on very many rows, and of connections that are reset: alone and beside each. */
export async function measureLarge(
  stage: Stage,
  postgres: string,
  { seconds, largeOnly }: { readonly seconds: number; readonly largeOnly: readonly string[] },
  report: (line: string) => void,
): Promise<LargeRun[]> {
  report(`${postgres}: filling the tables`);
  const filled = await stage.fillDatabase('roster', 'small');
  await stage.addRows('roster', readFileSync(new URL('data/abuses.sql', import.meta.url), 'utf8'), TABLES);
  const backing = stage.backingOf('roster');
  const client = new pg.Client({ connectionString: backing.databaseUrl });
  await client.connect();
  const callers = filled.callers.slice(0, TENANTS);
  const [reads, writes] = [stage.load, startLoadGenerator()];

  const loadOf = async (server: Server, request: RequestName): Promise<Load> => {
    const sent = callers.flatMap((caller) => byKey(request, caller) ?? []);
    const [first] = sent;
    if (first === undefined) throw new Error(`Roster has no ${request}.`);
    const { length: bodyLength } = await answerTo(server.url, first);
    return { urls: [server.url], sent, bodyLength, connections: TENANTS, seconds };
  };
  const observe = async (server: Server): Promise<Seen> => {
    const [ofReads, ofWrites] = [await loadOf(server, 'teams'), await loadOf(server, 'patch')];
    const used = () => [cpuSecondsOf(familyOf(server.pid)), cpuSecondsOf(stage.neighbours.PostgreSQL())] as const;
    await server.longestDelay();
    const before = used();
    const [teams, patch] = await Promise.all([
      reads.observe({ ...ofReads, perSecond: PACE.teams }),
      writes.observe({ ...ofWrites, perSecond: PACE.patch }),
    ]);
    const [service, database] = used().map((value, i) => (value - (before[i] ?? 0)) / seconds);
    const cores = { service: service ?? NaN, postgres: database ?? NaN };
    return { teams, patch, longestDelayMs: await server.longestDelay(), cores };
  };

  try {
    const runs: LargeRun[] = [];
    for (const { title, start } of LARGE_ABUSES.filter(({ name }) => largeOnly.includes(name))) {
      report(`${postgres}: ${title}`);
      const server = await stage.start('roster', 'roster', { TEAM_LIMIT: '100000' });
      await observe(server);
      const alone = await observe(server);
      const abuse = await start({ ...filled, server, backing }, client);
      const beside = await observe(server);
      await abuse.stop();
      await server.stop();
      await client.query('delete from graphile_worker._private_jobs');
      runs.push({ title, postgres, alone, beside });
      await sleep(1000);
    }
    return runs;
  } finally {
    writes.stop();
    await client.end();
  }
}

const number = (value: number | undefined, digits = 0): string => (value === undefined ? '–' : value.toFixed(digits));

export const largeTable = (runs: readonly LargeRun[]): string =>
  markdown([
    [
      'beside',
      'PostgreSQL',
      'request',
      'p50',
      'p99',
      'longest',
      'failed',
      'event loop',
      'cores: service',
      'PostgreSQL',
    ],
    ...runs.flatMap(({ title, postgres, alone, beside }) =>
      (['teams', 'patch'] as const).map((name) => {
        const [quiet, busy] = [alone[name], beside[name]];
        const both = (pick: (latency: NonNullable<LoadResult['latency']>) => number) =>
          [quiet, busy].map(({ latency }) => number(latency && pick(latency))).join(' → ');
        const isFirst = name === 'teams';
        return [
          isFirst ? title : '',
          isFirst ? postgres : '',
          isFirst ? 'read' : 'rename',
          both(({ p50 }) => p50),
          both(({ p99 }) => p99),
          both(({ max }) => max),
          `${busy.refused + busy.failed} of ${busy.requests + busy.failed}`,
          isFirst ? `${number(alone.longestDelayMs)} → ${number(beside.longestDelayMs)}` : '',
          isFirst ? `${number(alone.cores.service, 2)} → ${number(beside.cores.service, 2)}` : '',
          isFirst ? `${number(alone.cores.postgres, 2)} → ${number(beside.cores.postgres, 2)}` : '',
        ];
      }),
    ),
  ]);
