import { setTimeout as sleep } from 'node:timers/promises';
import { ABUSES } from './abuses.ts';
import type { LoadResult } from './load-client.ts';
import { startLoadGenerator } from './load-client.ts';
import { residentMegabytes } from './proc.ts';
import { answerTo, byKey, type RequestName } from './requests.ts';
import type { Server } from './servers.ts';
import type { PostgresKind, Stage } from './stage.ts';
import { markdown } from './table.ts';

/** What the victim asks for, evenly: an ordinary client, far from the limits of the machine. */
const PACE: Readonly<Record<'teams' | 'patch', number>> = { teams: 100, patch: 20 };
const VICTIMS = 32;
/** Until an abuse is at its height, and until it is over. */
const SETTLE_MS = 2000;
/** Until V8 has collected garbage without being pressed to, and returned memory. */
const IDLE_MS = 20_000;

type Seen = Readonly<Record<keyof typeof PACE, LoadResult>>;
export type NeighbourRun = {
  readonly postgres: PostgresKind;
  readonly title: string;
  readonly alone: Seen;
  readonly beside: Seen;
  /** Resident, at the end of the abuse and after a while without requests. */
  readonly megabytes: number;
  readonly megabytesLater: number;
};

/** What a tenant notices of each abuse by another: its latencies alone and beside it, and its failed requests. */
export async function measureNeighbours(
  stage: Stage,
  postgres: PostgresKind,
  { seconds }: { readonly seconds: number },
  report: (line: string) => void,
): Promise<NeighbourRun[]> {
  const filled = await stage.fillDatabase('roster', 'small');
  const server = await stage.start('roster', 'roster', {
    TRUST_PROXY: '1',
    SIGN_IN_ADDRESS_LIMIT: '1000000',
    SIGN_IN_LIMIT: '1000000',
  });
  const callers = filled.callers.slice(0, VICTIMS);
  const [reads, writes] = [stage.load, startLoadGenerator()];

  const loadOf = async (request: RequestName, lasting: number) => {
    const sent = callers.flatMap((caller) => byKey(request, caller) ?? []);
    const [first] = sent;
    if (first === undefined) throw new Error(`Roster has no ${request}.`);
    const { length: bodyLength } = await answerTo(server.url, first);
    return { urls: [server.url], sent, bodyLength, connections: VICTIMS, seconds: lasting };
  };
  const [ofReads, ofWrites] = [await loadOf('teams', seconds), await loadOf('patch', seconds)];
  const observe = async (): Promise<Seen> => {
    const [teams, patch] = await Promise.all([
      reads.observe({ ...ofReads, perSecond: PACE.teams }),
      writes.observe({ ...ofWrites, perSecond: PACE.patch }),
    ]);
    return { teams, patch };
  };

  try {
    report('warming up, and making events to export');
    await reads.run(await loadOf('teams', 3));
    await reads.run(await loadOf('patch', 5));
    const runs: NeighbourRun[] = [];
    for (const { title, start } of ABUSES) {
      report(`${postgres}: ${title}`);
      await sleep(SETTLE_MS);
      const alone = await observe();
      const abuse = await start({ ...filled, server, backing: stage.backingOf('roster') });
      await sleep(SETTLE_MS);
      const beside = await observe();
      await abuse.stop();
      await untilQuiet(server);
      const megabytes = residentMegabytes(server.pid);
      await sleep(IDLE_MS);
      runs.push({ postgres, title, alone, beside, megabytes, megabytesLater: residentMegabytes(server.pid) });
    }
    return runs;
  } finally {
    writes.stop();
  }
}

/** Waits until the server answers at once again. */
async function untilQuiet({ url }: Server): Promise<void> {
  for (let quick = 0; quick < 5; await sleep(100)) {
    const startedAt = performance.now();
    await fetch(`${url}/healthz`).then((answer) => answer.arrayBuffer());
    quick = performance.now() - startedAt < 50 ? quick + 1 : 0;
  }
}

const ms = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(1));

export const neighbourTable = (runs: readonly NeighbourRun[]): string =>
  markdown([
    [
      'PostgreSQL',
      'a neighbour',
      'request',
      'p50 alone',
      'p50 beside',
      'p99 alone',
      'p99 beside',
      'p99 ratio',
      'failed',
      'MB after',
      'MB later',
    ],
    ...runs.flatMap(({ postgres, title, alone, beside, megabytes, megabytesLater }) =>
      (['teams', 'patch'] as const).map((name) => {
        const [quiet, busy] = [alone[name].latency, beside[name].latency];
        return [
          name === 'teams' ? postgres : '',
          name === 'teams' ? title : '',
          name === 'teams' ? 'read' : 'rename',
          ms(quiet?.p50),
          ms(busy?.p50),
          ms(quiet?.p99),
          ms(busy?.p99),
          quiet && busy ? (busy.p99 / quiet.p99).toFixed(1) : '–',
          `${beside[name].refused + beside[name].failed} of ${beside[name].requests + beside[name].failed}`,
          name === 'teams' ? megabytes.toFixed(0) : '',
          name === 'teams' ? megabytesLater.toFixed(0) : '',
        ];
      }),
    ),
  ]);
