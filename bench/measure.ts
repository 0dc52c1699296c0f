import { restoreMembers, type Caller } from './data/fill.ts';
import type { Latency } from './load-client.ts';
import { cpuSecondsOf, familyOf, forgetPeak, peakMegabytes } from './proc.ts';
import { answerTo, isOnce, type Dialect, type RequestName, type Sent } from './requests.ts';
import type { Server } from './servers.ts';
import type { Stage } from './stage.ts';

/** One line of the table in the making: servers, and how they are asked. */
export type Contender = {
  readonly name: string;
  readonly servers: readonly Server[];
  readonly callers: readonly Caller[];
  readonly dialect: Dialect;
  /** How many processes serve, where a server has several. */
  readonly workers?: number;
};

export type Run = {
  readonly perSecond: number;
  /** CPU time of the servers for each request; NaN where the system does not tell. */
  readonly cpuMicroseconds: number;
  /** How many cores each party kept busy. */
  readonly busy: Readonly<Record<string, number>>;
};

export type Measured = {
  readonly request: RequestName;
  readonly contender: string;
  readonly servers: number;
  readonly runs: readonly Run[];
  readonly latencyAtHalf: Latency;
  readonly peakMegabytes: number;
};

export type Plan = { readonly runs: number; readonly seconds: number; readonly connections: number };

type Prepared = {
  readonly contender: Contender;
  readonly sent: readonly Sent[];
  readonly bodyLength: number;
  readonly isOnce: boolean;
};

/** Measures the contenders in turn, again and again, so that what the machine does meanwhile hits all of them. */
export async function measure(
  stage: Stage,
  request: RequestName,
  contenders: readonly Contender[],
  plan: Plan,
): Promise<Measured[]> {
  const prepared: Prepared[] = [];
  for (const contender of contenders) {
    const one = await (isOnce(request) ? prepareOnce(request, contender) : prepare(request, contender));
    if (one !== undefined) prepared.push(one);
  }

  const runs = prepared.map((): Run[] => []);
  for (let round = -1; round < plan.runs; round++) {
    for (const [index, one] of prepared.entries()) {
      const run = await flood(stage, one, plan);
      // The first round warms up.
      if (round >= 0) runs[index]?.push(run);
      if (round === -1) for (const { pid } of one.contender.servers) forgetPeak(pid);
    }
  }

  const measured: Measured[] = [];
  for (const [index, one] of prepared.entries()) {
    const perSecond = median((runs[index] ?? []).map((run) => run.perSecond)) / 2;
    await restore(one);
    const { latency = { p50: NaN, p99: NaN, p999: NaN, max: NaN } } = await stage.load.run({
      ...loadOf(one, plan),
      perSecond,
    });
    measured.push({
      request,
      contender: one.contender.name,
      servers: one.contender.workers ?? one.contender.servers.length,
      runs: runs[index] ?? [],
      latencyAtHalf: latency,
      peakMegabytes: Math.max(...one.contender.servers.map(({ pid }) => peakMegabytes(pid))),
    });
    await restore(one);
  }
  return measured;
}

async function prepare(request: RequestName, contender: Contender): Promise<Prepared | undefined> {
  // In two turns, so that a caller stays with its connection, and what is changed in one is changed again in the other.
  const all = [0, 1].flatMap((turn) =>
    contender.callers.flatMap((caller) => contender.dialect(request, caller, turn) ?? []),
  );
  if (all.length === 0) return undefined;
  // An answer that names its caller has another length for some: those are left out, so that each is checked.
  const lengths: number[] = [];
  for (const one of all) lengths.push((await answerTo(contender.servers[0]?.url ?? '', one)).length);
  const bodyLength = median(lengths.toSorted((a, b) => a - b).slice(0, lengths.length - (1 - (lengths.length % 2))));
  return { contender, sent: all.filter((_, index) => lengths[index] === bodyLength), bodyLength, isOnce: false };
}

/** Prepares requests that succeed once: in turns of all callers, so that each caller stays with its connection. */
async function prepareOnce(request: RequestName, contender: Contender): Promise<Prepared | undefined> {
  const { callers, dialect, servers } = contender;
  const turns = Math.min(...callers.map(({ removable = [] }) => removable.length));
  const sent = Array.from({ length: turns }, (_, turn) =>
    callers.flatMap((caller) => dialect(request, caller, turn) ?? []),
  ).flat();
  const [first] = sent;
  if (first === undefined) return undefined;
  const prepared = { contender, sent, bodyLength: 0, isOnce: true };
  await restore(prepared);
  const { length: bodyLength } = await answerTo(servers[0]?.url ?? '', first);
  return { ...prepared, bodyLength };
}

async function restore({ contender, isOnce: isNeeded }: Prepared): Promise<void> {
  const [server] = contender.servers;
  if (isNeeded && server !== undefined) await restoreMembers(server.databaseUrl);
}

async function flood(stage: Stage, one: Prepared, plan: Plan): Promise<Run> {
  await restore(one);
  // With the workers of a server.
  const parties = { servers: () => one.contender.servers.flatMap(({ pid }) => familyOf(pid)), ...stage.neighbours };
  const cpu = () => Object.entries(parties).map(([name, pids]) => [name, cpuSecondsOf(pids())] as const);
  const before = cpu();
  const startedAt = performance.now();
  const { requests, perSecond } = await stage.load.run(loadOf(one, plan));
  const seconds = (performance.now() - startedAt) / 1000;
  const used = cpu().map(([name, after], index) => [name, after - (before[index]?.[1] ?? 0)] as const);
  const ofServers = used[0]?.[1] ?? 0;
  return {
    perSecond,
    cpuMicroseconds: ofServers > 0 ? (1e6 * ofServers) / requests : NaN,
    busy: Object.fromEntries(used.map(([name, cpuSeconds]) => [name, cpuSeconds / seconds])),
  };
}

const loadOf = ({ contender, ...prepared }: Prepared, { connections, seconds }: Plan) => ({
  urls: contender.servers.map(({ url }) => url),
  ...prepared,
  connections,
  seconds,
});

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}
